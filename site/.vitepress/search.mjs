// How the search of the site weighs what it finds. VitePress copies the functions into its pages, so they name nothing outside of themselves.

/** Of the index and of what is searched: a word and its plural are one term. */
export const options = {
  processTerm: (word) => word.toLowerCase().replace(/ies$/, 'y').replace(/s$/, ''),
}

export const searchOptions = {
  fuzzy: 0.2,
  prefix: true,
  boost: { title: 4, text: 2, titles: 1 },
  boostDocument(id, term, section) {
    // For maintainers, and about other products.
    if (/^\/docs\/(internals|contributing|changelog|explanation\/comparison|guides\/coming)/.test(id))
      return 0.1
    // The title of a page is that of its first section.
    if (section.titles.length === 0) return section.title.toLowerCase().includes(term) ? 1.5 : 1
    // Lists, in which a name is looked up.
    return /^\/docs\/reference\/(command-line|findings|messages)/.test(id) ? 0.3 : 1
  },
}
