import { setImmediate } from 'node:timers/promises'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { draftFaults } from '#domain/catalogue/draft-faults.ts'
import type { Draft, ProductEvent } from '#domain/catalogue/events.ts'
import { lifecyclePath } from '#domain/catalogue/lifecycle.ts'
import { missingRates } from '#domain/catalogue/missing-rates.ts'
import { hasUnpublishedChanges, product, type ProductCommand, type ProductState } from '#domain/catalogue/product.ts'
import { rateTable } from '#domain/catalogue/rate-table.ts'
import { neverCollected, unfinished } from '#domain/catalogue/unfinished.ts'
import { PaymentMode } from '#domain/payment-accounts/events.ts'
import type { RateTable } from '#domain/rating/events.ts'
import { ReleaseId, type OrganisationId } from '#domain/values.ts'
import { counted } from '#domain/plural.ts'
import {
  documentFile,
  documentFileName,
  documentFileTypes,
  mostDocumentBytes,
  type DocumentFile,
  type DocumentFiles,
} from './document-files.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import {
  inOrderOf,
  reportRefusal,
  WaitsForOther,
  type SetupContext,
  type SetupOwner,
  type SetupSection,
  type SetupStep,
} from '../setup-file/section.ts'
import { changedPaths } from './changed-paths.ts'
import { otherContent } from './declared-checkout.ts'
import { DeclaredProduct, draftOf, keptDraft, leftOut, writtenProduct } from './declared-product.ts'
import { productIdOf, rateTableIdOf } from './ids.ts'
import type { Catalogue } from './live-catalogue.ts'
import { makeComparePrices, priceDifferences } from './price-differences.ts'
import { DeclaredRateTable, tableOf } from './rate-tables-setup.ts'
import type { HasSold } from './routes.ts'
import { withoutRates } from './without-rates.ts'

type FindTable = (key: string, version: number) => RateTable | undefined

type Deps = {
  readonly writer: Writer
  readonly hasSold: HasSold
  readonly catalogue: Pick<Catalogue, 'slugs'>
  readonly documentFiles: DocumentFiles
  /** True where an organisation has set up the retail prices index of any year. */
  readonly hasRpiFigures: (organisation_id: OrganisationId) => Promise<boolean>
  readonly hasPaymentAccount: (organisation_id: OrganisationId, mode: PaymentMode) => Promise<boolean>
}

type Known = {
  readonly table: FindTable
  readonly hasRpiFigures: boolean
  /** The modes in which nothing can be collected, since there is no account. */
  readonly unpaidModes: readonly PaymentMode[]
}

/** The products of an organisation: what the file declares is drafted, published unless it says otherwise, and put into its state. */
export const productsSection = ({
  writer,
  hasSold,
  catalogue,
  documentFiles,
  hasRpiFigures,
  hasPaymentAccount,
}: Deps): SetupSection<DeclaredProduct> => {
  const products = commandHandler(writer, product)
  const rateTables = commandHandler(writer, rateTable)
  const comparePrices = makeComparePrices(writer)

  /** The tables that drafts name, those that the same file publishes first. */
  const findTables = async (drafts: readonly Draft[], setup: SetupContext): Promise<FindTable> => {
    const known = new Map<string, ReturnType<FindTable>>()
    for (const { rate_tables } of drafts)
      for (const [key, version] of Object.entries(rate_tables)) {
        const published = await rateTables.load(rateTableIdOf(setup.organisation_id, key, version))
        if (published) known.set(nameOf(key, version), published)
      }
    for (const each of setup.declared('rate_tables')) {
      await setImmediate()
      const declared = DeclaredRateTable.safeParse(each).data
      const table = declared && tableOf(declared, setup)
      if (!table) continue
      // What is wrong with a table is said of the table. A product that names it is not at fault.
      const assumed: RateTable = {
        key: declared.key,
        version: declared.version,
        currency_code: declared.currency_code ?? setup.currency_code,
        unit: 'rate_e4',
        dimensions: [],
        cells: {},
        source_note: '',
      }
      known.set(nameOf(declared.key, declared.version), 'faults' in table ? assumed : table)
    }
    return (key, version) => known.get(nameOf(key, version))
  }

  /** The rate tables of a draft that are not published: those of the same file may be waiting for a second user. */
  const unpublishedOf = async ({ organisation_id, rate_tables }: Draft): Promise<readonly string[]> => {
    const names: string[] = []
    for (const [key, version] of Object.entries(rate_tables))
      if (!(await rateTables.load(rateTableIdOf(organisation_id, key, version)))) names.push(nameOf(key, version))
    return names
  }

  /** True where a second user is asked for the release, or for a rate table that it needs. */
  const isWaiting = async (draft: Draft, publishes: boolean): Promise<boolean> => {
    const { organisation_id } = draft
    const asks = async (type: 'PublishRelease' | 'PublishRateTable') =>
      (await writer.approval?.isAsked({ organisation_id, command: { type }, before: undefined, after: undefined })) ??
      false
    if (publishes && (await asks('PublishRelease'))) return true
    return (await unpublishedOf(draft)).length > 0 && asks('PublishRateTable')
  }

  const pricesOf = async (before: Draft, after: Draft, { context }: SetupContext, table: FindTable) => {
    const compared = await comparePrices(before, after, context.now, table)
    const currencies = { before: before.currency_code, after: after.currency_code }
    return compared ? priceDifferences(compared, currencies) : []
  }

  const planOne = async (
    declared: DeclaredProduct,
    draft: Draft,
    index: number,
    setup: SetupContext,
    { table, unpaidModes, ...known }: Known,
  ): Promise<SetupStep | undefined> => {
    const files = filesOf(declared, setup)
    const { organisation_id, context, report } = setup
    const state = await products.load(draft.product_id)
    const sold = state !== undefined && (await hasSold(organisation_id, draft.product_id))
    const from = state?.lifecycle_state ?? 'draft'
    const steps = lifecyclePath(from, declared.lifecycle_state ?? from, sold)
    if (!steps) {
      report([index, 'lifecycle_state'], `a product that is ${from} cannot become ${declared.lifecycle_state}`)
      return undefined
    }
    const commands: readonly ProductCommand[] = [
      { type: 'DraftProduct', draft, table },
      ...(declared.publish ? [{ type: 'PublishRelease', release_id: ReleaseId.parse(uuidv7()), sold } as const] : []),
      ...steps.map((to) => ({ type: 'ChangeLifecycle', to, sold }) as const),
    ]
    const events = decideAll(commands, state)
    const mode: PaymentMode = (draft.checkout.stripe_test_mode ?? setup.stripe_test_mode) ? 'test' : 'live'
    const isSoldFromNow =
      (declared.lifecycle_state ?? from) === 'production' && events.some(({ type }) => type !== 'ProductDrafted')
    return {
      what: `product ${draft.slug}`,
      change: events.length === 0 ? 'none' : state ? 'change' : 'create',
      details: [
        ...events.flatMap((event) => detailsOf(event, state)),
        ...(events.length > 0 && state ? await pricesOf(state.current ?? state.draft, draft, setup, table) : []),
        ...(events.some(({ type }) => type === 'ReleasePublished')
          ? [...everyWithoutRates(draft, table), ...unfinished(draft, known)]
          : []),
        ...(isSoldFromNow && unpaidModes.includes(mode) ? [neverCollected(mode)] : []),
        ...(state ? [] : leftOut(declared)),
      ],
      waits: await isWaiting(
        draft,
        events.some(({ type }) => type === 'ReleasePublished'),
      ),
      apply: async () => {
        const [unpublished] = await unpublishedOf(draft)
        if (unpublished !== undefined)
          throw new WaitsForOther(
            `waits until the rate table ${unpublished} is approved: approve that, and send the file again`,
          )
        for (const file of files) await documentFiles.keep(organisation_id, file)
        for (const command of commands) await products.handle(draft.product_id, command, context)
      },
    }
  }

  /** Of what is published the draft is the same. One that is not is exported as what it is: a draft. */
  const exportedOne = async ({ organisation_id, addFile }: SetupOwner, slug: string) => {
    const state = await products.load(productIdOf(organisation_id, slug))
    if (!state) return []
    const names = new Map<string, string>()
    for (const { file } of state.draft.checkout.key_documents) {
      const found = file && (await documentFiles.read(organisation_id, file.sha256))
      if (found) names.set(found.sha256, addFile(documentFileName(found), found.content))
    }
    const progress = { lifecycle_state: state.lifecycle_state, publish: !hasUnpublishedChanges(state) }
    return [writtenProduct(state.draft, progress, (sha256) => names.get(sha256) ?? sha256)]
  }

  return {
    key: 'products',
    schema: DeclaredProduct,
    plan: async (declared, setup) => {
      const findFile = (name: string) => fileOf(name, setup)
      const drafts = await Promise.all(
        declared.map(async (each, index) => {
          const draft = draftOf(each, { ...setup, findFile })
          const existing = await products.load(draft.product_id)
          return keptDraft(draft, existing?.draft, setup.declared('products')[index])
        }),
      )
      const table = await findTables(drafts, setup)
      const rules = z
        .array(z.object({ rpi: z.array(z.unknown()).default([]) }))
        .safeParse(setup.declared('policy_rules'))
      const accounts = z.array(z.object({ mode: z.string() })).safeParse(setup.declared('payment_accounts')).data ?? []
      const unpaidModes: PaymentMode[] = []
      for (const mode of PaymentMode.options)
        if (
          !accounts.some((account) => account.mode === mode) &&
          !(await hasPaymentAccount(setup.organisation_id, mode))
        )
          unpaidModes.push(mode)
      const known = {
        table,
        unpaidModes,
        hasRpiFigures: rules.data?.[0] ? rules.data[0].rpi.length > 0 : await hasRpiFigures(setup.organisation_id),
      }
      const plans = declared.map(async (each, index) => {
        const draft = drafts[index]
        if (!draft) return []
        const earlier = declared.findIndex(({ slug }) => slug === each.slug)
        const before = (await products.load(draft.product_id))?.draft
        const faults = [...draftFaults(draft, table), ...fileFaults(each, setup), ...versionFaults(draft, before)]
        if (earlier !== index) setup.report([index, 'slug'], `is that of products[${earlier}]`)
        for (const { path, reason } of faults) setup.report([index, ...path], reason)
        if (earlier !== index || faults.length > 0) return []
        return (await reportRefusal(setup, [index], () => planOne(each, draft, index, setup, known))) ?? []
      })
      return (await Promise.all(plans)).flat()
    },
    exported: async (owner) => {
      const written = []
      for (const slug of catalogue.slugs(owner.organisation_id)) written.push(...(await exportedOne(owner, slug)))
      return inOrderOf(written, ({ slug }) => slug)
    },
  }
}

/** A version of a document says the same for ever. */
const versionFaults = (draft: Draft, before: Draft | undefined) =>
  draft.checkout.key_documents.flatMap((document, index) => {
    const known = before?.checkout.key_documents.find(({ version_id }) => version_id === document.version_id)
    const reason = otherContent(document, known)
    return reason === undefined ? [] : [{ path: ['checkout', 'key_documents', index, 'version_id'], reason }]
  })

const fileOf = (name: string, { bytes }: Pick<SetupContext, 'bytes'>): DocumentFile | undefined => {
  const content = bytes(name)
  return content && documentFile(name, content)
}

const filesOf = ({ checkout }: DeclaredProduct, setup: SetupContext): readonly DocumentFile[] =>
  checkout.key_documents.flatMap(({ file }) => (file === undefined ? [] : (fileOf(file, setup) ?? [])))

const fileFaults = ({ checkout }: DeclaredProduct, setup: SetupContext) =>
  checkout.key_documents.flatMap(({ file }, index) => {
    if (file === undefined) return []
    const reason = whyUnusable(file, setup)
    return reason === undefined ? [] : [{ path: ['checkout', 'key_documents', index, 'file'], reason }]
  })

const whyUnusable = (name: string, setup: SetupContext): string | undefined => {
  const content = setup.bytes(name)
  if (!content) return `${name} was not sent along: it must lie beside the set-up file`
  if (!documentFile(name, content)) return `${name} must end in ${documentFileTypes.join(', ')}`
  return content.length > mostDocumentBytes ? `${name} is larger than ${mostDocumentBytes / 1e6} MB` : undefined
}

const nameOf = (key: string, version: number) => `${key} ${version}`

/** The events of commands decided one after the other. */
const decideAll = (commands: readonly ProductCommand[], state: ProductState | undefined): readonly ProductEvent[] => {
  const all: ProductEvent[] = []
  let before = state
  for (const command of commands) {
    const events = product.decide(command, before)
    before = events.reduce((folded, event) => product.evolve(folded, event, { occurred_at: '' }), before)
    all.push(...events)
  }
  return all
}

const detailsOf = (event: ProductEvent, before: ProductState | undefined): readonly string[] => {
  switch (event.type) {
    case 'ProductDrafted':
      return before ? changedPaths(before.draft, event.draft) : [`drafts ${contentsOf(event.draft)}`]
    case 'ReleasePublished':
      return [`publishes release ${event.release.number}`]
    case 'ProductLifecycleChanged':
      return [`becomes ${event.lifecycle_state}`]
  }
}

const everyWithoutRates = (draft: Draft, table: FindTable): readonly string[] =>
  missingRates(draft, table).flatMap((missing) => {
    const found = table(missing.rate_table, missing.version)
    return found ? [withoutRates(missing, found)] : []
  })

const contentsOf = ({ covers, journeys }: Draft): string => {
  const questions = journeys.reduce((sum, journey) => sum + journey.questions.length, 0)
  return `${counted(covers.length, 'cover')}, ${counted(journeys.length, 'journey')} and ${counted(questions, 'question')}`
}
