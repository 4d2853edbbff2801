import { execFileSync } from 'node:child_process'

/** What is measured: the short hash of its commit, with "-dirty" where files have changed since. Empty where there is no git. */
export function readCommit(): { commit?: string } {
  try {
    const args = ['describe', '--always', '--dirty', '--exclude', '*']
    return {
      commit: execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim(),
    }
  } catch {
    return {}
  }
}
