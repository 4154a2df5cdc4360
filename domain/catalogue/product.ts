import { canonicalJson } from '../canonical-json.ts'
import type { Decider } from '../decider.ts'
import { Rejection } from '../rejection.ts'

import type { ReleaseId } from '../values.ts'
import { draftFaults, type FindTable } from './draft-faults.ts'
import { productEvents, type Draft, type ProductEvent, type Release, type LifecycleState } from './events.ts'
import type { Fault } from './faults.ts'
import { isLifecycleStep, lifecyclePath } from './lifecycle.ts'

/** `sold`: whether a policy of the product was ever set up, in test or in earnest. */
export type ProductCommand =
  | { readonly type: 'DraftProduct'; readonly draft: Draft; readonly table: FindTable }
  | { readonly type: 'PublishRelease'; readonly release_id: ReleaseId; readonly sold: boolean }
  | { readonly type: 'ChangeLifecycle'; readonly to: LifecycleState; readonly sold: boolean }

type Command<Type> = Extract<ProductCommand, { type: Type }>
type Decision = readonly ProductEvent[]

export type ProductState = {
  readonly draft: Draft
  readonly lifecycle_state: LifecycleState
  /** The release on show. */
  readonly current: Release | undefined
}

const decide = (command: ProductCommand, state: ProductState | undefined): Decision => {
  if (command.type === 'DraftProduct') return draft(command, state)
  if (!state) throw new Rejection('not_found', 'There is no such product. Set it up first.')

  switch (command.type) {
    case 'PublishRelease':
      return publish(command, state)
    case 'ChangeLifecycle':
      return changeLifecycle(command, state)
  }
}

const draft = ({ draft: next, table }: Command<'DraftProduct'>, state: ProductState | undefined): Decision => {
  if (state && state.draft.slug !== next.slug)
    throw new Rejection('conflict', 'A product keeps its slug. Draft another product under the new one.')
  if (state && canonicalJson(state.draft) === canonicalJson(next)) return []
  const faults = draftFaults(next, table)
  if (faults.length > 0)
    throw new Rejection('validation_failed', 'Correct what fields names in the draft.', fieldsOf(faults))
  return [{ type: 'ProductDrafted', draft: next }]
}

const fieldsOf = (faults: readonly Fault[]) =>
  Object.fromEntries(faults.map(({ path, reason }) => [written(path), reason] as const).reverse())

const written = (path: Fault['path']) =>
  path.reduce<string>(
    (before, part) => (typeof part === 'number' ? `${before}[${part}]` : before === '' ? part : `${before}.${part}`),
    '',
  )

/** Publishing a draft that has not changed since is no new release. */
const publish = ({ release_id, sold }: Command<'PublishRelease'>, state: ProductState): Decision => {
  const { draft: content, current } = state
  if (current && !hasUnpublishedChanges(state)) return []
  for (const journey of content.journeys) {
    const before = current?.journeys.find(({ id }) => id === journey.id)?.lifecycle_state ?? 'draft'
    if (!lifecyclePath(before, journey.lifecycle_state, sold))
      throw new Rejection(
        'conflict',
        `The journey ${journey.slug} cannot go from ${before} to ${journey.lifecycle_state}.`,
      )
  }
  return [{ type: 'ReleasePublished', release: { id: release_id, ...content, number: (current?.number ?? 0) + 1 } }]
}

export const hasUnpublishedChanges = ({ draft: content, current }: ProductState): boolean => {
  if (!current) return true
  const { id: _id, number: _number, ...published } = current
  return canonicalJson(published) !== canonicalJson(content)
}

const changeLifecycle = ({ to, sold }: Command<'ChangeLifecycle'>, state: ProductState): Decision => {
  const { lifecycle_state: from, current, draft: content } = state
  if (from === to) return []
  if (!isLifecycleStep(from, to, sold))
    throw new Rejection('conflict', `A product that is ${from} cannot become ${to}${sold ? ' once it was sold' : ''}.`)
  if (!current && (to === 'sandbox' || to === 'production'))
    throw new Rejection('conflict', 'Publish a release first: without one there is nothing to sell.')
  return [{ type: 'ProductLifecycleChanged', organisation_id: content.organisation_id, lifecycle_state: to }]
}

const evolve = (state: ProductState | undefined, event: ProductEvent): ProductState | undefined => {
  if (event.type === 'ProductDrafted')
    return state
      ? { ...state, draft: event.draft }
      : { draft: event.draft, lifecycle_state: 'draft', current: undefined }
  if (!state) return undefined

  switch (event.type) {
    case 'ReleasePublished':
      return { ...state, current: event.release }
    case 'ProductLifecycleChanged':
      return { ...state, lifecycle_state: event.lifecycle_state }
  }
}

export const product: Decider<ProductCommand, typeof productEvents, ProductState | undefined> = {
  category: 'product',
  events: productEvents,
  initialState: undefined,
  decide,
  evolve,
}
