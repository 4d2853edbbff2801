/** The directory of documents, as seen from here and from the bundle: both are three directories below an app. */
export const docsDirectory = new URL('../../../../docs/', import.meta.url)
