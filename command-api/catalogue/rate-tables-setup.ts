import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { product } from '#domain/catalogue/product.ts'
import { rateTable } from '#domain/catalogue/rate-table.ts'
import { counted } from '#domain/plural.ts'
import { parseRateCsv, toRateCsv } from '#domain/rating/rate-table-csv.ts'
import { CurrencyCode, type OrganisationId } from '#domain/values.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import {
  inOrderOf,
  reportRefusal,
  type SetupContext,
  type SetupOwner,
  type SetupSection,
  type SetupStep,
  type Whole,
} from '../setup-file/section.ts'
import type { EarlierTable } from './earlier-table.ts'
import { productIdOf, rateTableIdOf } from './ids.ts'
import type { Catalogue } from './live-catalogue.ts'
import { tableDifferences } from './table-differences.ts'
import { RateTableKey, type RateTable } from '#domain/rating/events.ts'

/** A version of a rate table in a set-up file: its cells are in a CSV file next to it, or in the file itself. */
export const DeclaredRateTable = z
  .strictObject({
    key: RateTableKey,
    version: z.int().min(1),
    currency_code: CurrencyCode.optional(),
    source_note: z.string().default(''),
    file: z.string().min(1).optional(),
    csv: z.string().min(1).optional(),
  })
  .refine(({ file, csv }) => (file === undefined) !== (csv === undefined), 'name one of file and csv')
export type DeclaredRateTable = z.output<typeof DeclaredRateTable>
type WrittenRateTable = Whole<z.input<typeof DeclaredRateTable>>

/** The most faulty lines of a file that are reported. */
const mostFaults = 20

type Faulty = {
  readonly faults: readonly {
    readonly path: readonly PropertyKey[]
    readonly reason: string
    readonly count?: number
  }[]
}

export const tableOf = (
  { key, version, currency_code, source_note, file, csv }: DeclaredRateTable,
  setup: Pick<SetupContext, 'currency_code' | 'file'>,
): RateTable | Faulty => {
  const text = file === undefined ? csv : setup.file(file)
  if (text === undefined)
    return { faults: [{ path: ['file'], reason: `${file} was not sent along: it must lie beside the set-up file` }] }

  const parsed = parseRateCsv(text)
  if ('faults' in parsed) {
    const path = [file === undefined ? 'csv' : 'file']
    const shown = parsed.faults.slice(0, mostFaults)
    const hidden = parsed.faults.length - shown.length
    return {
      faults: [
        ...shown.map(({ line, column, message }) => ({
          path,
          reason: `${file ?? 'csv'}:${line}: ${column}: ${message}`,
        })),
        ...(hidden > 0
          ? [{ path, reason: `and ${hidden.toLocaleString('en-GB')} more faults in ${file ?? 'csv'}`, count: hidden }]
          : []),
      ],
    }
  }
  const { dimensions, cells } = parsed
  return {
    key,
    version,
    currency_code: currency_code ?? setup.currency_code,
    unit: 'rate_e4',
    dimensions,
    cells,
    source_note,
  }
}

type Deps = {
  readonly writer: Writer
  readonly catalogue: Pick<Catalogue, 'slugs' | 'rateTable'>
  readonly earlierTable: EarlierTable
}

export const rateTablesSection = ({ writer, catalogue, earlierTable }: Deps): SetupSection<DeclaredRateTable> => {
  const { handle, preview, waits } = commandHandler(writer, rateTable)
  const products = commandHandler(writer, product)

  /** The versions that drafts and releases on show price with, each once. */
  const inUse = async (organisation_id: OrganisationId): Promise<readonly (readonly [string, number])[]> => {
    const versions = new Map<string, readonly [string, number]>()
    for (const slug of catalogue.slugs(organisation_id)) {
      const state = await products.load(productIdOf(organisation_id, slug))
      for (const { rate_tables } of [state?.draft, state?.current].filter((each) => each !== undefined))
        for (const [key, version] of Object.entries(rate_tables)) versions.set(`${key} ${version}`, [key, version])
    }
    return [...versions.values()]
  }

  const exportedOne = async (
    { organisation_id, addFile }: SetupOwner,
    [name, number]: readonly [string, number],
  ): Promise<readonly WrittenRateTable[]> => {
    // A large table takes a moment to write: requests of others come in between.
    await setImmediate()
    const table = await catalogue.rateTable(organisation_id, name, number)
    if (!table) return []
    const { key, version, currency_code, source_note } = table
    const file = addFile(`rates/${key}.v${version}.csv`, toRateCsv(table))
    return [{ key, version, currency_code, source_note, file, csv: undefined }]
  }

  /** A new version is shown beside the one before it, which may be new as well. */
  const detailsOf = async (table: RateTable, lower: readonly RateTable[], { organisation_id }: SetupContext) => {
    const before = await earlierTable(organisation_id, table, lower)
    return [
      `publishes ${counted(Object.keys(table.cells).length, 'rate')} by ${table.dimensions.join(', ')}`,
      ...(before ? tableDifferences(before, table) : []),
    ]
  }

  const planOne = async (table: RateTable, lower: readonly RateTable[], setup: SetupContext): Promise<SetupStep> => {
    const { organisation_id, context } = setup
    const { key, version } = table
    const id = rateTableIdOf(organisation_id, key, version)
    const command = { type: 'PublishRateTable', organisation_id, table } as const
    const isNew = (await preview(id, command)).length > 0
    return {
      what: `rate table ${key} version ${version}`,
      change: isNew ? 'create' : 'none',
      details: isNew ? await detailsOf(table, lower, setup) : [],
      waits: await waits(id, command, context),
      apply: async () => {
        await handle(id, command, context)
      },
    }
  }

  const planAt = async (declared: readonly DeclaredRateTable[], index: number, setup: SetupContext) => {
    const each = declared[index]
    if (!each) return []
    const earlier = declared.findIndex(({ key, version }) => key === each.key && version === each.version)
    if (earlier !== index) {
      setup.report([index, 'version'], `is declared before, at rate_tables[${earlier}]`)
      return []
    }
    const table = tableOf(each, setup)
    if ('faults' in table) {
      for (const { path, reason, count } of table.faults) setup.report([index, ...path], reason, count)
      return []
    }
    const lower = declared
      .filter(({ key, version }) => key === table.key && version < table.version)
      .flatMap((other) => {
        const read = tableOf(other, setup)
        return 'faults' in read ? [] : [read]
      })
    return (await reportRefusal(setup, [index, 'version'], () => planOne(table, lower, setup))) ?? []
  }

  return {
    key: 'rate_tables',
    schema: DeclaredRateTable,
    plan: async (declared, setup) => {
      const steps: SetupStep[] = []
      for (const index of declared.keys()) {
        // A large table takes a moment to read: requests of others come in between.
        await setImmediate()
        steps.push(...[await planAt(declared, index, setup)].flat())
      }
      return steps
    },
    exported: async (owner) => {
      const written: WrittenRateTable[] = []
      for (const each of await inUse(owner.organisation_id)) written.push(...(await exportedOne(owner, each)))
      return inOrderOf(written, ({ key, version }) => `${key} ${String(version).padStart(16, '0')}`)
    },
  }
}
