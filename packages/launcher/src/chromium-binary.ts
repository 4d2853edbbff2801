import { findProgram } from './find-program.js'

/**
 * The Chromium on the PATH, in which tests look at pages; installed where it is missing.
 *
 * @throws CannotStart with the ways on
 */
export function findChromiumBinary(): Promise<string> {
  return findProgram({
    title: 'Chromium',
    commands: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'],
    aptPackage: 'chromium',
    brewArguments: ['--cask', 'chromium'],
    waysOn:
      'Install Chromium or Chrome (as in `sudo apt-get install chromium`, `brew install --cask chromium`) and start again; ' +
      'only tests of pages need it.',
  })
}
