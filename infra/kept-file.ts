import { randomUUID } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'
/** True where a file could not be made because there is one of that name. */
export const isThere = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EEXIST'

/** The content of a file; undefined when there is none. */
export const textOf = async (file: string): Promise<string | undefined> => {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/**
 * The content of a file; made, for its owner alone, when there is none. It is written whole or not at all, and is on the disk:
 * what is sealed under a key must not be kept longer than the key. Processes that make it at once read the same.
 */
export const keptFile = async (file: string, make: () => string): Promise<string> => {
  const known = await textOf(file)
  if (known !== undefined) return known
  const made = make()
  const unfinished = `${file}.${randomUUID()}`
  await writeFile(unfinished, made, { mode: 0o600, flush: true })
  try {
    await link(unfinished, file)
    return made
  } catch (error) {
    // Another process was faster.
    if (!isThere(error)) throw error
    return await readFile(file, 'utf8')
  } finally {
    await rm(unfinished, { force: true })
  }
}
