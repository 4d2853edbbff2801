/** Runs what needs the page as it will be: Preact draws in a microtask. So the next key that is typed comes after it; a frame would come too late. */
export function afterDrawing(work: () => void): void {
  queueMicrotask(() => queueMicrotask(work))
}
