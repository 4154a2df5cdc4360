import { nameOf } from './bounds.ts'
import type { LifeAtStart } from './lives.ts'
import type { ChosenCover } from './selection.ts'
import type { AcceptedLoading, PricingRequest } from './request.ts'
import { mostSevere, onTerms, underwrite, type Ending, type Underwriting } from './underwriting.ts'
import type { RatedCover, ExcludedCover, UnderwritingRules } from './events.ts'

/** A cover that underwriting lets pass, with what it found of each life; of an unrated one it asks nothing. */
export type AcceptedCover = ChosenCover & { readonly underwritings: readonly Underwriting[] }

type Acceptance = {
  readonly accepted: readonly AcceptedCover[]
  readonly excluded: readonly ExcludedCover[]
  /** Set when the whole application ends here. */
  readonly ending: Ending | undefined
}

/**
 * A cover that is declined or postponed is left out while another can be had. The application ends when none is left,
 * and also when one must be referred: the price of the others would not be the whole answer.
 */
export const acceptCovers = (
  rules: UnderwritingRules,
  chosen: readonly ChosenCover[],
  lives: readonly LifeAtStart[],
  terms?: PricingRequest['accepted_terms'],
): Acceptance => {
  const accepted: AcceptedCover[] = []
  const endings: Ending[] = []
  const excluded: ExcludedCover[] = []

  const judge =
    ({ cover_type }: RatedCover) =>
    ({ answers }: LifeAtStart, index: number): Underwriting => {
      const judged = underwrite(rules, answers, cover_type)
      const isFor = ({ life, cover_types }: AcceptedLoading) =>
        life === index + 1 && (cover_types?.includes(cover_type) ?? true)
      return terms ? onTerms(judged, terms.loadings.filter(isFor)) : judged
    }

  for (const one of chosen) {
    const isRated = one.cover.pricing_basis === 'rated'
    const underwritings = isRated ? lives.map(judge(one.cover)) : []
    const ending = mostSevere(underwritings.flatMap(({ ending: ended }) => ended ?? []))
    if (ending) {
      endings.push(ending)
      excluded.push(declined(one.cover, ending))
    } else accepted.push({ ...one, underwritings })
  }
  const ending = accepted.length === 0 ? mostSevere(endings) : endings.find(({ decision }) => decision === 'refer')
  return { accepted, excluded, ending }
}

const declined = (cover: RatedCover, { reason }: Ending): ExcludedCover => ({
  cover_id: cover.id,
  cover_type: cover.cover_type,
  reason: 'declined',
  message: `${nameOf(cover)} is not offered: ${reason.message}`,
})
