/** Does it only to the version that the caller has seen: ApiError 412 where the rule has another one by now. */
export interface IfVersion {
  ifVersion?: number | undefined
}

export function matching<Options extends object>({ ifVersion, ...options }: Options & IfVersion) {
  return {
    ...options,
    headers: (): Record<string, string> => (ifVersion === undefined ? {} : { 'if-match': `"${ifVersion}"` }),
  }
}
