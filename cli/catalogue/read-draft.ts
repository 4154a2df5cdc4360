import { organisationEvents } from '#domain/access/events.ts'
import { foldOrganisation, type Organisation } from '#domain/access/record.ts'
import { draftFaults } from '#domain/catalogue/draft-faults.ts'
import { productEvents, type Draft, type Release } from '#domain/catalogue/events.ts'
import { product, type ProductState } from '#domain/catalogue/product.ts'
import { fromStored, type EventOf, type EventShapes, type RecordedEvent } from '#domain/event.ts'
import { OwnError } from '#domain/own-error.ts'
import { rateTableEvents, type RateTable } from '#domain/rating/events.ts'
import { ReleaseId, type OrganisationId } from '#domain/values.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { inputPath } from '#infra/http/problem.ts'
import { newId } from '#infra/ids.ts'
import { onlyDescribed } from '../../command-api/capability.ts'
import { DeclaredProduct, draftOf, keptDraft } from '../../command-api/catalogue/declared-product.ts'
import { productIdOf, rateTableIdOf } from '../../command-api/catalogue/ids.ts'
import { DeclaredRateTable, tableOf } from '../../command-api/catalogue/rate-tables-setup.ts'
import { declaredOf, type DeclaredEntry } from '../../command-api/setup-file/declared.ts'
import { parseSetupFile } from '../../command-api/setup-file/file.ts'
import { setupSections } from '../../command-api/setup-sections.ts'

type Log = Pick<EventLog, 'read'>

type Wanted = {
  readonly organisation: Organisation
  readonly slug: string
  /** The draft that is stored, or that of a set-up file. */
  readonly from: 'draft' | NamedFile
}

/** A set-up file by its name, with the files that it names. */
type NamedFile = { readonly file: string; readonly text: string; readonly files: Readonly<Record<string, string>> }

export type ReadDraft = { readonly release: Release; readonly rate_tables: ReadonlyMap<string, RateTable> }

const pageSize = 1_000

async function* eventsIn<Shapes extends EventShapes>(
  log: Log,
  stream: string,
  shapes: Shapes,
): AsyncGenerator<{ readonly event: EventOf<Shapes>; readonly recorded: RecordedEvent }> {
  for (let from = 0; ; from += pageSize) {
    const page = await log.read(stream, { from, limit: pageSize })
    for (const recorded of page) yield { event: fromStored(shapes, recorded), recorded }
    if (page.length < pageSize) return
  }
}

export const readOrganisation = async (log: Log, id: OrganisationId): Promise<Organisation> => {
  let organisation: Organisation | undefined
  for await (const { event } of eventsIn(log, `organisation-${id}`, organisationEvents))
    organisation = foldOrganisation(organisation, event)
  if (!organisation) throw new OwnError(`There is no organisation with the id ${id}.`)
  return organisation
}

/** The draft of a product as a release that is not published, with the rate tables that price it. */
export const readDraft = async (log: Log, wanted: Wanted): Promise<ReadDraft> => {
  const { organisation, slug, from } = wanted
  let stored: ProductState | undefined
  for await (const { event, recorded } of eventsIn(log, `product-${productIdOf(organisation.id, slug)}`, productEvents))
    stored = product.evolve(stored, event, recorded.metadata)
  if (!stored) throw new OwnError(`${organisation.slug} has no product with the slug ${slug}.`)
  const { draft, tables } = from === 'draft' ? { draft: stored.draft, tables: [] } : declaredIn(from, wanted, stored)
  const rate_tables = await tablesOf(log, draft, tables)
  const faults = draftFaults(draft, (key) => rate_tables.get(key))
  if (faults.length > 0)
    throw new OwnError(faults.map(({ path, reason }) => `${inputPath(path)}: ${reason}`).join('\n'))
  const number = (stored.current?.number ?? 0) + 1
  return { release: { ...draft, id: ReleaseId.parse(newId()), number }, rate_tables }
}

/** Tables of the file come first. */
const tablesOf = async (log: Log, draft: Draft, declared: readonly RateTable[]) => {
  const tables = new Map<string, RateTable>()
  for (const [key, version] of Object.entries(draft.rate_tables)) {
    const table =
      declared.find((each) => each.key === key && each.version === version) ??
      (await publishedTable(log, draft.organisation_id, key, version))
    if (!table) throw new OwnError(`There is no version ${version} of the rate table ${key}.`)
    tables.set(key, table)
  }
  return tables
}

const publishedTable = async (log: Log, organisation_id: OrganisationId, key: string, version: number) => {
  const [published] = await log.read(`rate_table-${rateTableIdOf(organisation_id, key, version)}`, { limit: 1 })
  return published && fromStored(rateTableEvents, published).table
}

/** A product as a set-up file declares it, with the rate tables of the file. What the file leaves out stays as it is. */
const declaredIn = (named: NamedFile, { organisation, slug }: Wanted, stored: ProductState) => {
  const entry = entryIn(named, organisation)
  const owner = {
    organisation_id: organisation.id,
    currency_code: entry.organisation?.currency_code ?? organisation.currency_code,
    // Documents have no part in a price.
    findFile: () => undefined,
    file: (name: string) => named.files[name],
  }
  const products = itemsOf(entry, 'products').map((each) => DeclaredProduct.parse(each))
  const index = products.findIndex((each) => each.slug === slug)
  const declared = products[index]
  if (!declared) throw new OwnError(`${named.file} declares no product with the slug ${slug}.`)
  const tables = itemsOf(entry, 'rate_tables').map((each) => {
    const table = tableOf(DeclaredRateTable.parse(each), owner)
    if (!('faults' in table)) return table
    throw new OwnError(table.faults.map(({ path, reason }) => `${inputPath(path)}: ${reason}`).join('\n'))
  })
  return { draft: keptDraft(draftOf(declared, owner), stored.draft, itemsOf(entry, 'products')[index]), tables }
}

const entryIn = ({ text, file }: NamedFile, { id, slug }: Organisation): DeclaredEntry => {
  const parsed = parseSetupFile(text)
  if ('faults' in parsed)
    throw new OwnError(parsed.faults.map(({ line, reason }) => `${file}:${line}: ${reason}`).join('\n'))
  const { entries, faults } = declaredOf(parsed.content, setupSections(onlyDescribed))
  if (faults.length > 0)
    throw new OwnError(
      faults.map(({ path, reason }) => `${file}:${parsed.lineOf(path)}: ${inputPath(path)}: ${reason}`).join('\n'),
    )
  const found = entries.find(({ organisation }) => organisation?.slug === slug || organisation?.id === id)
  if (!found) throw new OwnError(`${file} declares no organisation with the slug ${slug}.`)
  return found
}

/** As they were written: what a file leaves out is told by that. */
const itemsOf = ({ written }: DeclaredEntry, key: string): readonly unknown[] => {
  const items = written[key]
  return Array.isArray(items) ? (items as readonly unknown[]) : []
}
