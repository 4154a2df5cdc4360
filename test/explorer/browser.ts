import { access } from 'node:fs/promises'
import { chromium } from 'playwright-core'

const known = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** A Chromium of this machine: CHROMIUM, or where it is usually installed. Undefined where there is none. */
export const findBrowser = async (): Promise<string | undefined> => {
  const given = process.env['CHROMIUM']
  for (const path of given === undefined ? known : [given])
    if (
      await access(path).then(
        () => true,
        () => false,
      )
    )
      return path
  return undefined
}

export const openBrowser = async (executablePath: string) => {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
  return Object.assign(browser, { [Symbol.asyncDispose]: async () => browser.close() })
}
