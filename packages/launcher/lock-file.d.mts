export function tryLock(file: string, kind: 'exclusive' | 'shared'): number | undefined
