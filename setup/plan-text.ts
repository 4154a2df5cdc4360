import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { parseDocument, visit } from 'yaml'

/**
 * A set-up file as it is sent: with the texts of the files that it names, relative to itself, as a second YAML document.
 * The lines of the file stay what they are.
 */
export const readSetupText = async (file: string): Promise<string> => {
  const text = await readFile(file, 'utf8')
  const names = filesNamedIn(text)
  const texts = await Promise.all(names.map((name) => textOf(resolve(dirname(file), name))))
  const files = Object.fromEntries(
    names.flatMap((name, index) => (texts[index] === undefined ? [] : [[name, texts[index]]])),
  )
  return `${text}\n---\n${JSON.stringify({ files })}\n`
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
const textOf = async (path: string): Promise<string | undefined> => {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
