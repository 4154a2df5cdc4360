import { z } from 'zod'
import { canonicalJson } from '../canonical-json.ts'
import type { Release } from '../catalogue/events.ts'
import type { Quote } from '../quotes/record.ts'
import { ConfirmedStep, SaleStep, type KeyDocument } from './events.ts'
import { fill, fillAll, fillingOf, type Filling } from './filling.ts'

export { placeholderNames, unknownPlaceholders } from './filling.ts'

/** The screen that customers must see before buying, as specified. */
export const BeforeYouBuy = z
  .object({
    show: z.boolean().describe('Whether to present the screen at all.'),
    steps: z.array(SaleStep).describe('The steps that are still owed.'),
    sellable: z.boolean().describe('false: the product cannot be bought on a form. Offer a conversation instead.'),
    demands_and_needs: z.string().nullable().describe('The statement to show and have confirmed.'),
    key_documents: z.array(
      z.object({
        document_id: z.uuid(),
        version_id: z.uuid().nullable(),
        kind: z.string(),
        name: z.string(),
        url: z.string(),
      }),
    ),
    cancellation: z.object({ days: z.int(), statement: z.string() }).nullable(),
    confirmation: z
      .object({ intro: z.string(), points: z.array(z.string()), question: z.string() })
      .nullable()
      .describe('The read-back.'),
  })
  .meta({ id: 'BeforeYouBuy' })
export type BeforeYouBuy = z.infer<typeof BeforeYouBuy>

/** A step with all that its screen shows. */
type Shown = {
  readonly step: SaleStep
  readonly statement: string | null
  readonly documents: readonly KeyDocument[]
  readonly cancellation_days: number | null
  readonly confirmation: BeforeYouBuy['confirmation']
}

type Bought = Pick<Release, 'name' | 'cooldown_days' | 'checkout'>

/** False where a statement of demands and needs is required and there is none. */
export const isSellable = ({ checkout: { demands_and_needs } }: Pick<Release, 'checkout'>): boolean =>
  !demands_and_needs.required || demands_and_needs.statement !== null

const nothingShown = { statement: null, documents: [], cancellation_days: null, confirmation: null } as const

/** All the steps of a sale, as they would be shown now. */
const stepsOf = (release: Bought, quote: Quote): readonly Shown[] => {
  const { demands_and_needs, key_documents, cancellation, confirmation } = release.checkout
  const filling = fillingOf(release, quote)
  const before = key_documents.filter(({ given }) => given === 'before_bind')
  const disclosed = before.filter(({ kind }) => kind === 'initial_disclosure')
  const others = before.filter(({ kind }) => kind !== 'initial_disclosure')
  return [
    ...step('initial_disclosure', disclosed.length > 0, { documents: disclosed }),
    ...step('demands_and_needs', demands_and_needs.required, {
      statement: demands_and_needs.statement === null ? null : fill(demands_and_needs.statement, filling),
    }),
    ...step('key_documents_before_bind', others.length > 0, { documents: others }),
    ...(cancellation?.given === 'before_bind'
      ? step('cancellation_rights_before_bind', true, {
          statement: fill(cancellation.statement, filling),
          cancellation_days: release.cooldown_days,
        })
      : []),
    ...(confirmation ? step('confirm_before_purchase', true, { confirmation: readBack(confirmation, filling) }) : []),
  ]
}

const step = (name: SaleStep, isAsked: boolean, shown: Partial<Shown>): readonly Shown[] =>
  isAsked ? [{ ...nothingShown, ...shown, step: name }] : []

const readBack = (
  { intro, points, question }: NonNullable<Bought['checkout']['confirmation']>,
  filling: Filling,
): BeforeYouBuy['confirmation'] => ({
  intro: fill(intro, filling),
  points: points.flatMap((point) => fillAll(point, filling) ?? []),
  question: fill(question, filling),
})

/** The SHA-256 of a text, in hexadecimal. */
type Sha256 = (text: string) => string

const evidenceOf = (shown: Shown, sha256: Sha256): ConfirmedStep => {
  const { step: name, statement, cancellation_days, confirmation } = shown
  const documents = shown.documents.map(({ document_id, version_id }) => ({ document_id, version_id }))
  return {
    step: name,
    content_sha256: sha256(canonicalJson({ step: name, statement, documents, cancellation_days, confirmation })),
    statement_sha256: statement === null ? null : sha256(statement),
    documents,
    cancellation_days,
  }
}

export type Sale = { readonly release: Bought; readonly quote: Quote; readonly confirmed: readonly ConfirmedStep[] }

/** A step of a sale in its own words, beside the digests that confirming it records. */
export const ShownStep = ConfirmedStep.extend({
  statement: z.string().nullable(),
  confirmation: BeforeYouBuy.shape.confirmation,
  is_confirmed: z.boolean().describe('Whether the customer has confirmed just this.'),
}).meta({ id: 'ShownStep' })
export type ShownStep = z.infer<typeof ShownStep>

/** All that a sale shows, whether it is still owed or not. */
export const shownSteps = ({ release, quote, confirmed }: Sale, sha256: Sha256): ShownStep[] => {
  const known = new Set(confirmed.map(({ content_sha256 }) => content_sha256))
  return stepsOf(release, quote).map((shown) => {
    const evidence = evidenceOf(shown, sha256)
    const { statement, confirmation } = shown
    return { ...evidence, statement, confirmation, is_confirmed: known.has(evidence.content_sha256) }
  })
}

/**
 * Steps still to be shown, with the evidence that confirming them leaves. A step confirmed with the same content is not owed.
 */
const owedSteps = (
  { release, quote, confirmed }: Sale,
  sha256: Sha256,
): readonly { readonly shown: Shown; readonly evidence: ConfirmedStep }[] => {
  if (!isSellable(release)) return []
  const known = new Set(confirmed.map(({ content_sha256 }) => content_sha256))
  return stepsOf(release, quote)
    .map((shown) => ({ shown, evidence: evidenceOf(shown, sha256) }))
    .filter(({ evidence }) => !known.has(evidence.content_sha256))
}

export const owedEvidence = (sale: Sale, sha256: Sha256): readonly ConfirmedStep[] =>
  owedSteps(sale, sha256).map(({ evidence }) => evidence)

/** The path, after the base address, of a key document version that is a file of ours. */
export const keyDocumentPath = (version_id: string): string => `/api/v1/key_documents/${version_id}`

/** The screen before buying. `baseUrl` is that of our own documents. */
export const beforeYouBuy = (sale: Sale, sha256: Sha256, baseUrl: string): BeforeYouBuy => {
  const owed = owedSteps(sale, sha256).map(({ shown }) => shown)
  const find = (name: SaleStep) => owed.find((each) => each.step === name)
  const cancellation = find('cancellation_rights_before_bind')
  return {
    show: owed.length > 0,
    steps: owed.map((each) => each.step),
    sellable: isSellable(sale.release),
    demands_and_needs: find('demands_and_needs')?.statement ?? null,
    key_documents: owed
      .flatMap(({ documents }) => documents)
      .map(({ document_id, version_id, kind, name, url }) => ({
        document_id,
        version_id,
        kind,
        name,
        url: url ?? `${baseUrl}${keyDocumentPath(version_id)}`,
      })),
    cancellation: cancellation
      ? { days: cancellation.cancellation_days ?? 0, statement: cancellation.statement ?? '' }
      : null,
    confirmation: find('confirm_before_purchase')?.confirmation ?? null,
  }
}
