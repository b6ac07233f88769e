// The dashboard in the service: looks at the data once a second, and draws what is new.
const at = (id) => document.getElementById(id)
const session = new URLSearchParams(location.search).get("session")
const kept = "hedgerow token"
let seen = "", bokeh = null

const say = (sentence) => {
  at("trouble").hidden = sentence === ""
  at("trouble").textContent = sentence
}

const {documents, items, colours} = JSON.parse(at("embedded").textContent)

const begin_figures = async () => {
  await Bokeh.embed.embed_items(documents, [items])
  bokeh = Bokeh.documents[0]
  follow_colours(bokeh.roots())
  at("choice").hidden = false
}

const known = (number) => number === null ? NaN : number

const draw = ({sources, labels}) => {
  for (const [name, columns] of Object.entries(sources)) {
    const data = {}
    for (const [column, numbers] of Object.entries(columns)) data[column] = numbers.map(known)
    bokeh.get_model_by_name(name).data = data
  }
  at("shares").replaceChildren(...labels.flatMap((label, i) => {
    const line = document.createElement("li"), swatch = document.createElement("i")
    swatch.style.background = colours[i]
    line.append(swatch, label)
    return label === "" ? [] : [line]
  }))
}

const tell_overview = (words) => {
  const focused = at("overview").contains(document.activeElement) ? document.activeElement : null
  const link = focused === null ? null : focused.getAttribute("href")
  at("overview").innerHTML = words
  if (link !== null) at("overview").querySelector(`a[href="${link}"]`)?.focus()
  else if (focused !== null) at("overview").querySelector(".wide")?.focus()
}

const offer_others = (names) => {
  const offered = [...at("other").options].map((option) => option.value)
  const others = names.filter((name) => name !== session && !offered.includes(name))
  at("other").append(...others.map((name) => new Option(name, name)))
}

const ask_who = (sentence) => {
  sessionStorage.removeItem(kept)
  at("who").hidden = false
  say(sentence)
}

const look = async () => {
  const token = sessionStorage.getItem(kept)
  if (token === null && document.body.dataset.tokens === "asked") return ask_who("")
  const asked = new URLSearchParams({window: at("window").value, seen})
  if (session !== null) asked.set("session", session)
  if (at("other").value !== "") asked.set("other", at("other").value)
  const headers = token === null ? {} : {Authorization: `Bearer ${token}`}
  try {
    const answer = await fetch(`dashboard/data?${asked}`, {headers})
    const found = await answer.json()
    if (answer.status === 401 || answer.status === 403) return ask_who(found.error.sentence)
    if (!answer.ok) {
      say(found.error.sentence)
    } else {
      say("")
      tell_overview(found.overview)
      at("numbers").innerHTML = found.numbers ?? ""
      offer_others(found.names)
      if (found.sources?.rounds.time.length > 0) {
        if (bokeh === null) await begin_figures()
        draw(found)
        seen = found.seen
      }
    }
  } catch (error) {
    say("The service does not answer; trying again.")
  }
  setTimeout(look, 1000)
}

at("who").addEventListener("submit", (event) => {
  event.preventDefault()
  sessionStorage.setItem(kept, at("token").value.trim())
  at("token").value = ""
  at("who").hidden = true
  look()
})
if (session !== null) document.title = `${session} - hedgerow live`
look()
