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
