import { table } from './show.ts'
import { h, type View } from './view.ts'

export type Change = {
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
  readonly masked?: boolean
}

export const shownValue = ({ masked }: Change, value: unknown): string => {
  if (masked) return 'not shown'
  if (value === null || value === undefined) return '–'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Values side by side, each by its place in the record. */
export const changeTable = (changes: readonly Change[], before = 'Before', after = 'After'): View =>
  table(
    `Values ${before.toLowerCase()} and ${after.toLowerCase()}`,
    [
      { title: 'Value', show: ({ path }) => h('code', {}, path) },
      { title: before, show: (change) => shownValue(change, change.before) },
      { title: after, show: (change) => shownValue(change, change.after) },
    ],
    changes,
  )
