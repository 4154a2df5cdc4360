import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { makeFolder } from '#infra/make-folder.ts'
import { ask, Failed, jsonOf, type Service } from './service.ts'

const Organisations = z.object({ data: z.array(z.object({ id: z.uuid(), slug: z.string() })) })

/** The id of an organisation that is named by it, or by its slug. */
const idOf = async (service: Service, organisation: string): Promise<string> => {
  if (z.uuid().safeParse(organisation).success) return organisation
  const response = await ask(service, 'organisations', { method: 'GET' })
  const { data } = Organisations.parse(await jsonOf(response, service.baseUrl))
  const found = data.find(({ slug }) => slug === organisation)
  if (!found) throw new Failed(`There is no organisation with the slug or id ${organisation}.`)
  return found.id
}

/** The set-up of an organisation, as the service takes it: the file, and what belongs to it as a second document. */
export const exportedText = async (service: Service, organisation: string): Promise<string> => {
  const address = `organisations/${await idOf(service, organisation)}/setup?format=yaml`
  const response = await ask(service, address, { method: 'GET' })
  return response.text()
}

/** Nothing but a file below the set-up file is written. */
const Name = z.string().regex(/^(?:[\w-]+\/)?\w[\w.-]*$/)
const Attached = z.object({ files: z.record(Name, z.string()), binary_files: z.record(Name, z.base64()) })

const mark = '\n---\n{'

/** Writes the set-up file, and beside it the files that it names, as it is read again. Answers how many those are. */
export const writeExported = async (exported: string, file: string): Promise<number> => {
  const at = exported.lastIndexOf(mark)
  const text = at === -1 ? exported : exported.slice(0, at)
  const attached: unknown =
    at === -1 ? { files: {}, binary_files: {} } : JSON.parse(exported.slice(at + mark.length - 1))
  const { files, binary_files } = Attached.parse(attached)
  const beside = [
    ...Object.entries(files).map(([name, content]) => [name, Buffer.from(content)] as const),
    ...Object.entries(binary_files).map(([name, base64]) => [name, Buffer.from(base64, 'base64')] as const),
  ]
  const all = beside.map(([name, content]) => [join(dirname(file), name), content] as const)
  for (const [path, content] of [...all, [file, Buffer.from(text)] as const]) await refuseOther(path, content)
  for (const [path, content] of all) {
    await makeFolder(dirname(path))
    await writeFile(path, content)
  }
  await makeFolder(dirname(file))
  await writeFile(file, text)
  return beside.length
}

/** Nothing that somebody has written there is lost. */
const refuseOther = async (path: string, content: Buffer): Promise<void> => {
  const there = await readFile(path).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  })
  if (there && !there.equals(content))
    throw new Failed(`There is another ${path} already. Move it away, or name another file. Nothing was written.`)
}
