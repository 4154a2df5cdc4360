import { productEvents, type LifecycleState, type ProductEvent, type Release } from '#domain/catalogue/events.ts'
import { fromStored, type RecordedEvent } from '#domain/event.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'

/** A time in which a release was on sale: published, and its product in production. */
export type Sale = {
  readonly release: Release
  readonly published: RecordedEvent
  /** It was published, or the product came into production. */
  readonly begun: RecordedEvent
  /** Another release took its place, or the product left production; undefined: it is still on sale. */
  readonly ended: RecordedEvent | undefined
}

type Shown = { readonly release: Release; readonly published: RecordedEvent }

/** A product, as far as its events are told. */
type State = {
  readonly lifecycle_state: LifecycleState
  readonly shown: Shown | undefined
  readonly sales: readonly Sale[]
}

const isOnSale = ({ lifecycle_state, shown }: State): boolean => lifecycle_state === 'production' && shown !== undefined

const changedBy = (state: State, event: ProductEvent, recorded: RecordedEvent): State => {
  switch (event.type) {
    case 'ProductDrafted':
      return state
    case 'ReleasePublished':
      return { ...state, shown: { release: event.release, published: recorded } }
    case 'ProductLifecycleChanged':
      return { ...state, lifecycle_state: event.lifecycle_state }
  }
}

const after = (before: State, event: ProductEvent, recorded: RecordedEvent): State => {
  const state = changedBy(before, event, recorded)
  const { shown, sales } = state
  if (isOnSale(before) === isOnSale(state) && before.shown === shown) return state
  const ended = sales.map((sale) => (sale.ended ? sale : { ...sale, ended: recorded }))
  return {
    ...state,
    sales: isOnSale(state) && shown ? [...ended, { ...shown, begun: recorded, ended: undefined }] : ended,
  }
}

// A draft and a release can have a hundred kilobytes.
const pageSize = 50

/** The times in which releases of a product were on sale, in their order. Undefined: the organisation has no such product. */
export const salesOf = async (
  eventLog: Pick<EventLog, 'read'>,
  { organisation_id, product_id }: { readonly organisation_id: string; readonly product_id: string },
  isKnown: (event: RecordedEvent) => boolean,
): Promise<readonly Sale[] | undefined> => {
  let state: State = { lifecycle_state: 'draft', shown: undefined, sales: [] }
  for (let from = 0; ; from += pageSize) {
    const page = await eventLog.read(`product-${product_id}`, { from, limit: pageSize })
    for (const recorded of page) {
      if (recorded.metadata.organisation_id !== organisation_id) return undefined
      if (isKnown(recorded)) state = after(state, fromStored(productEvents, recorded), recorded)
    }
    if (page.length < pageSize) return from === 0 && page.length === 0 ? undefined : state.sales
  }
}

/** A part of time: from one moment on, and before another. */
export type Span = { readonly from: string; readonly until: string }

/** True of a sale that went on at some moment of the span. */
export const wasDuring =
  ({ from, until }: Span) =>
  ({ begun, ended }: Sale): boolean => {
    const [begin, end] = [begun.metadata.occurred_at, ended?.metadata.occurred_at]
    return begin < until && (end === undefined || (end > from && end > begin))
  }
