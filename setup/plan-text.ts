import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { parseDocument, visit } from 'yaml'

/**
 * A set-up file as it is sent: with the files that it names, relative to itself, as a second YAML document.
 * The lines of the file stay what they are.
 */
export const readSetupText = async (file: string): Promise<string> => {
  const text = (await contentOf(file))?.toString('utf8')
  if (text === undefined) throw new Error(`There is no file ${file}.`)
  // What follows would be taken for the file itself.
  if (parseDocument(text).contents === null) return text
  const names = filesNamedIn(text)
  const found = await Promise.all(
    names.map(async (name) => ({ name, content: await contentOf(resolve(dirname(file), name)) })),
  )
  const files: Record<string, string> = {}
  const binary_files: Record<string, string> = {}
  for (const { name, content } of found) {
    if (content && isUtf8(content)) files[name] = content.toString('utf8')
    else if (content) binary_files[name] = content.toString('base64')
  }
  return `${text}\n---\n${JSON.stringify({ files, binary_files })}\n`
}

/** Every value at a key `file`, at any depth. Faults of the set-up file are reported by the service. */
const filesNamedIn = (text: string): readonly string[] => {
  const names = new Set<string>()
  visit(parseDocument(text, { merge: true }), {
    Map: (_key, map) => {
      const name = map.get('file')
      if (typeof name === 'string') names.add(name)
    },
  })
  return [...names]
}

/** A file that is not there is not sent along; the service says where it is named. */
const contentOf = async (path: string): Promise<Buffer | undefined> => {
  try {
    return await readFile(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
