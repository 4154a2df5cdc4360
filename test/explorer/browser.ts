import { execFile } from 'node:child_process'
import { access, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'
import { z } from 'zod'

/** A Chromium, and what of its environment differs from that of the tests. */
export type Browser = { readonly path: string; readonly environment: Readonly<Record<string, string>> }

const installed = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/**
 * The Chromium that the variable CHROMIUM names, or one of this machine, or the one that npm brings for Linux on x64. Undefined
 * where there is none.
 */
export const findBrowser = async (): Promise<Browser | undefined> => {
  const given = process.env['CHROMIUM']
  for (const path of given === undefined ? installed : [given]) if (await exists(path)) return { path, environment: {} }
  const isPackaged = given === undefined && process.platform === 'linux' && process.arch === 'x64'
  return isPackaged ? packagedBrowser() : undefined
}

const cache = join(import.meta.dirname, '..', '..', 'node_modules', '.cache')

const fontsFile = 'fonts.conf'

/** Those of the machine, if there are any, and those that came along. */
const fontsOf = (directory: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${directory}/fonts/fonts</dir>
  <cachedir>${directory}/fonts-cache</cachedir>
</fontconfig>
`

/** Unpacked once for each version, with the libraries and fonts that a bare machine lacks. Two processes may do so at once. */
const packagedBrowser = async (): Promise<Browser> => {
  const main = fileURLToPath(import.meta.resolve('@sparticuz/chromium'))
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(await readFile(join(dirname(main), '..', 'package.json'), 'utf8')))
  const directory = join(cache, `coverstream-chromium-${version}`)
  if (!(await exists(directory))) {
    await mkdir(cache, { recursive: true })
    const partial = await mkdtemp(`${directory}-`)
    const unpack = join(import.meta.dirname, 'packaged-browser.ts')
    await promisify(execFile)(process.execPath, [unpack], { env: { ...process.env, TMPDIR: partial } })
    await writeFile(join(partial, fontsFile), fontsOf(directory))
    await rename(partial, directory).catch(async (error: unknown) => {
      await rm(partial, { recursive: true, force: true })
      if (!(await exists(directory))) throw error
    })
  }
  const libraries = [join(directory, 'al2023', 'lib'), process.env['LD_LIBRARY_PATH']].filter(Boolean).join(':')
  return {
    path: join(directory, 'chromium'),
    environment: { LD_LIBRARY_PATH: libraries, FONTCONFIG_FILE: join(directory, fontsFile) },
  }
}

export const openBrowser = async (found: Browser | undefined) => {
  if (!found) throw new Error('No Chromium was found.')
  const { path, environment } = found
  const browser = await chromium.launch({
    executablePath: path,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
    env: { ...process.env, ...environment },
  })
  return Object.assign(browser, { [Symbol.asyncDispose]: async () => browser.close() })
}
