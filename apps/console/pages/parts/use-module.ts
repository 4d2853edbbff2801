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
): { module: Module | undefined; hasFailed: boolean } {
  const [module, setModule] = useState<Module>()
  const [hasFailed, setFailed] = useState(false)
  useEffect(() => {
    if (isWanted && module === undefined)
      load().then(
        (loaded) => {
          setModule(loaded)
          setFailed(false)
        },
        () => setFailed(true),
      )
  }, [isWanted, change])
  return { module, hasFailed }
}
