import { findProgram } from './find-program.js'

/**
 * Finds Chromium on the PATH, for the tests of web pages, and installs it if it is missing.
 *
 * @throws CannotStart with instructions if Chromium cannot be installed
 */
export function findChromiumBinary(): Promise<string> {
  return findProgram({
    title: 'Chromium',
    commands: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'],
    aptPackage: 'chromium',
    brewArguments: ['--cask', 'chromium'],
    instructions:
      'Install Chromium or Chrome (`sudo apt-get install chromium` or `brew install --cask chromium`) and start again. ' +
      'Only the tests of web pages need it.',
  })
}
