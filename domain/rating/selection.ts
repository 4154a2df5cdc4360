import { entry, type Answers } from './answers.ts'
import type { ComponentChoice, PricingRequest } from './request.ts'
import type { RatedCover, ExcludedCover } from './events.ts'

/** A cover that was applied for, with its own or the application's amount and term. */
export type ChosenCover = {
  readonly cover: RatedCover
  readonly amount: number | null
  readonly term: number | null
}

type Selection = {
  readonly chosen: readonly ChosenCover[]
  readonly excluded: readonly ExcludedCover[]
  /** The paths of the amounts and terms that were not saved. */
  readonly unsaved: readonly string[]
}

/** Every cover of a product is applied for unless it is deselected; of the levels of a group plan, one is. */
export const selectCovers = ({ release, components, lives, ...saved }: PricingRequest): Selection => {
  const chosen: ChosenCover[] = []
  const excluded: ExcludedCover[] = []
  const unsaved: string[] = []
  const plan = planLevel(release.covers, components)

  for (const cover of release.covers) {
    const index = components.findIndex((choice) => isFor(choice, cover))
    const choice = components[index]
    if (!isSelected(cover, choice, plan, lives[0].answers)) {
      excluded.push({
        cover_id: cover.id,
        cover_type: cover.cover_type,
        reason: 'not_selected',
        message: 'This cover was not chosen.',
      })
      continue
    }
    const isByAmount = cover.pricing_basis !== 'per_member'
    const isByTerm = isByAmount && cover.term_years_max !== null
    const amount = isByAmount ? (choice?.cover_amount_pence ?? saved.cover_amount_pence) : null
    const term = isByTerm ? (choice?.term_years ?? saved.term_years) : null
    const path = choice ? `components[${index}].` : ''
    if (isByAmount && amount === null) unsaved.push(`${path}cover_amount_pence`)
    if (isByTerm && term === null) unsaved.push(`${path}term_years`)
    chosen.push({ cover, amount, term })
  }
  return { chosen, excluded, unsaved: [...new Set(unsaved)] }
}

const isFor = ({ cover_id, cover_index }: ComponentChoice, cover: RatedCover): boolean =>
  cover_id === undefined ? cover_index === cover.cover_index : cover_id === cover.id

export const isPlanLevel = ({ pricing_basis, opt_in_factor }: RatedCover): boolean =>
  pricing_basis === 'per_member' && opt_in_factor === null

/** The chosen level of a group plan; when none is named, the first that was not turned down. */
const planLevel = (covers: readonly RatedCover[], components: readonly ComponentChoice[]): RatedCover | undefined => {
  const levels = covers.filter(isPlanLevel)
  const chosen = (cover: RatedCover) => components.find((choice) => isFor(choice, cover))?.selected
  return levels.find((level) => chosen(level) === true) ?? levels.find((level) => chosen(level) !== false)
}

const isSelected = (
  cover: RatedCover,
  choice: ComponentChoice | undefined,
  plan: RatedCover | undefined,
  answers: Answers,
): boolean => {
  if (cover.pricing_basis !== 'per_member') return choice?.selected ?? true
  if (cover.opt_in_factor === null) return cover === plan
  return plan !== undefined && choice?.selected !== false && entry(answers, cover.opt_in_factor) === true
}
