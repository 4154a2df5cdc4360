import type { Organisation } from '#domain/access/record.ts'
import { Problem } from '#infra/http/problem.ts'
import { writtenOrganisation } from '../access/organisation-setup.ts'
import { mostSetupCharacters } from './read-setup-file.ts'
import type { AnySetupSection } from './section.ts'
import { yamlOf } from './setup-yaml.ts'

/** The set-up of an organisation, with the files that it names: texts as they are, others in base64. */
export type ExportedSetup = {
  /** The organisation's own settings. */
  readonly own: Readonly<Record<string, unknown>>
  /** The lists of all sections that have something to declare, by their keys. */
  readonly sections: Readonly<Record<string, readonly unknown[]>>
  readonly files: Readonly<Record<string, string>>
  readonly binary_files: Readonly<Record<string, string>>
  /** The ids of the people that it tells of. */
  readonly people: readonly string[]
}

/** As much as a request may bring: that is how an export comes back. */
const mostBytes = 8_000_000

/** Reads one section after the other, so that a large set-up is stopped before it is all in memory. */
export const exportSetup = async (
  organisation: Organisation,
  sections: readonly AnySetupSection[],
): Promise<ExportedSetup> => {
  const files: Record<string, string> = {}
  const binary_files: Record<string, string> = {}
  const people = new Set<string>()
  let bytes = 0
  const addFile = (name: string, content: string | Buffer): string => {
    if (Object.hasOwn(files, name) || Object.hasOwn(binary_files, name)) return name
    const text = typeof content === 'string' ? content : content.toString('base64')
    bytes += Buffer.byteLength(JSON.stringify(text))
    if (bytes > mostBytes) throw tooLarge('the rate tables and documents of this organisation have more than 8 MB')
    if (typeof content === 'string') files[name] = text
    else binary_files[name] = text
    return name
  }

  const declared: Record<string, readonly unknown[]> = {}
  for (const { key, exported } of sections) {
    const items = await exported({ organisation_id: organisation.id, addFile, shows: (id) => people.add(id) })
    if (items) declared[key] = items
  }
  return {
    own: writtenOrganisation(organisation),
    sections: declared,
    files: byName(files),
    binary_files: byName(binary_files),
    people: [...people],
  }
}

const byName = (files: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(files).toSorted(([one], [other]) => (one < other ? -1 : 1)))

const tooLarge = (what: string) =>
  new Problem('conflict', `It cannot be exported: ${what}, which is more than a set-up file may bring.`)

/** As `POST /admin/v1/setup` takes it: the file, and what belongs to it as a second document. */
export const setupYaml = async ({ own, sections, files, binary_files }: ExportedSetup): Promise<string> => {
  const text = await yamlOf(own, sections, mostSetupCharacters)
  if (text === undefined) throw tooLarge('it has more than a million characters')
  const hasFiles = Object.keys(files).length + Object.keys(binary_files).length > 0
  return hasFiles ? `${text}\n---\n${JSON.stringify({ files, binary_files })}\n` : text
}
