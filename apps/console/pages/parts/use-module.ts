import { useEffect, useState } from 'preact/hooks'

/**
 * What a file of its own exports, once it is there.
 *
 * @param change if the file could not be had, it is asked for again when this changes
 */
export function useModule<Module extends object>(
  load: () => Promise<Module>,
  isWanted: boolean,
  change: unknown,
): Module | undefined {
  const [module, setModule] = useState<Module>()
  useEffect(() => {
    if (isWanted && module === undefined) load().then(setModule, () => {})
  }, [isWanted, change])
  return module
}
