/** Applies the change only to the version that the caller has seen. ApiError 412 if the rule has a different version. */
export interface IfVersion {
  ifVersion?: number | undefined
}

export function matching<Options extends object>({ ifVersion, ...options }: Options & IfVersion) {
  return {
    ...options,
    headers: (): Record<string, string> => (ifVersion === undefined ? {} : { 'if-match': `"${ifVersion}"` }),
  }
}

/** Applies the change only to what the caller has seen: the `etag` of a draft, or that of the headers of a read (`onHeaders`). ApiError 412 if it has changed. */
export interface IfTag {
  ifTag?: string | undefined
}

export function matchingTag<Options extends object>({ ifTag, ...options }: Options & IfTag) {
  return {
    ...options,
    headers: (): Record<string, string> => (ifTag === undefined ? {} : { 'if-match': ifTag }),
  }
}
