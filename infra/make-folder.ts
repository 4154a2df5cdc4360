import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** As `mkdir` does with `recursive`, which never ends where a folder cannot be made in one that is there, as in /proc. */
export const makeFolder = async (folder: string): Promise<void> => {
  try {
    await mkdir(folder)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EEXIST') return
    const parent = dirname(folder)
    if (code !== 'ENOENT' || (await isThere(parent))) throw error
    await makeFolder(parent)
    await mkdir(folder)
  }
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
