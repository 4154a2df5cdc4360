import { isUtf8 } from 'node:buffer'
import { readFile, realpath } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { parseDocument, visit } from 'yaml'

/** A set-up file with the files that it names, relative to itself. */
export type SetupFile = {
  readonly text: string
  readonly files: Readonly<Record<string, string>>
  /** In base64. */
  readonly binary_files: Readonly<Record<string, string>>
}

export const readSetupFile = async (file: string): Promise<SetupFile> => {
  const text = (await contentOf(file))?.toString('utf8')
  if (text === undefined) throw new Error(`There is no file ${file}.`)
  const names = filesNamedIn(text)
  const found = await Promise.all(
    names.map(async (name) => ({ name, content: await contentOf(await pathWithin(dirname(file), name)) })),
  )
  const files: Record<string, string> = {}
  const binary_files: Record<string, string> = {}
  for (const { name, content } of found) {
    if (content && isUtf8(content)) files[name] = content.toString('utf8')
    else if (content) binary_files[name] = content.toString('base64')
  }
  return { text, files, binary_files }
}

/**
 * A set-up file as it is sent: what belongs to it follows as a second document. The lines of the file stay what they are.
 * `made_secrets` are for what the file leaves out, by the step that needs them.
 */
export const setupText = (
  { text, files, binary_files }: SetupFile,
  made_secrets: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
): string =>
  // What follows an empty file would be taken for the file itself.
  parseDocument(text).contents === null
    ? text
    : `${text}\n---\n${JSON.stringify({ files, binary_files, made_secrets })}\n`

export const readSetupText = async (file: string): Promise<string> => setupText(await readSetupFile(file))

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

/**
 * The path of a file that a set-up file names, links resolved. A set-up file may be another firm's work: a file that it names
 * is sent to the service, and must not be any file of this machine.
 */
const pathWithin = async (folder: string, name: string): Promise<string> => {
  const root = await realpath(folder)
  const named = resolve(root, name)
  const path = await unlessMissing(realpath(named))
  for (const each of [named, path ?? named])
    if (!each.startsWith(join(root, sep)))
      throw new Error(
        `${name} is not in the folder of the set-up file, nor below. Put it there, and name it from there.`,
      )
  return path ?? named
}

/** A file that is not there is not sent along; the service says where it is named. */
const contentOf = async (path: string): Promise<Buffer | undefined> => {
  try {
    return await unlessMissing(readFile(path))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EISDIR')
      throw new Error(`${path} is a folder. Name a file.`, { cause: error })
    throw error
  }
}

const unlessMissing = async <Value>(work: Promise<Value>): Promise<Value | undefined> => {
  try {
    return await work
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
