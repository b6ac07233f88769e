"""Matroids, spanning trees and submodular polytopes."""
