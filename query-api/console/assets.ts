import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { extname, join } from 'node:path'
import { Router } from 'express'
import type { Assets } from './frame.ts'

const folder = join(import.meta.dirname, 'browser')

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.ts': 'text/javascript; charset=utf-8',
}

/** The files that pages load in a browser, as they are in `browser/`: scripts lose their types, and nothing is built. */
export const loadAssets = async (): Promise<Assets & { readonly router: Router }> => {
  const names = (await readdir(folder)).filter((name) => types[extname(name)] !== undefined)
  const files = await Promise.all(
    names.map(async (name) => {
      return [name, await readFile(join(folder, name), 'utf8')] as const
    }),
  )
  // An address names the content of all of them: a page never runs with scripts of another version.
  const digest = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16)
  const base = `/console/assets/${digest}`
  const router = Router()
  const served: Record<string, string> = {}
  for (const [name, source] of files)
    router.get(`${base}/${name}`, (_request, response) => {
      const text = (served[name] ??= name.endsWith('.ts') ? stripTypeScriptTypes(source) : source)
      response
        .set('Cache-Control', 'public, max-age=31536000, immutable')
        .type(types[extname(name)] ?? '')
        .send(text)
    })
  return { of: (name) => `${base}/${name}`, router }
}
