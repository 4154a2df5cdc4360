import type { Account } from './account.ts'
import { formOf, textOf, type Form } from './form.ts'
import { invalid, type StripeObject } from './objects.ts'

type IsMeant = (object: StripeObject) => boolean

const comparisons = {
  gt: (value: number, bound: number) => value > bound,
  gte: (value: number, bound: number) => value >= bound,
  lt: (value: number, bound: number) => value < bound,
  lte: (value: number, bound: number) => value <= bound,
}

const createdThen = (form: Form): IsMeant => {
  const exactly = textOf(form, 'created')
  const bounds = Object.entries(comparisons).flatMap(([name, compare]) => {
    const bound = textOf(formOf(form, 'created'), name)
    return bound === undefined ? [] : [(value: number) => compare(value, Number(bound))]
  })
  return ({ created }) =>
    (exactly === undefined || created === Number(exactly)) && bounds.every((isWithin) => isWithin(Number(created)))
}

const limitIn = (form: Form): number => {
  const limit = Number(textOf(form, 'limit') ?? 10)
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= 100) return limit
  throw invalid('The limit must be from 1 to 100.', 'parameter_invalid_integer', { param: 'limit' })
}

/** Lists what there is of one kind as Stripe does: the newest first, in pages, of those that have the named values. */
export const listing =
  (object: string, url: string, filters: readonly string[]) =>
  (account: Account, form: Form): StripeObject => {
    const limit = limitIn(form)
    const isCreatedThen = createdThen(form)
    const isMeant: IsMeant = (each) =>
      each.object === object &&
      filters.every((name) => form[name] === undefined || each[name] === form[name]) &&
      isCreatedThen(each)
    const all = [...account.objects.values()].filter(isMeant).toReversed()
    const indexOf = (name: string): number | undefined => {
      const cursor = textOf(form, name)
      const place = all.findIndex(({ id }) => id === cursor)
      if (cursor !== undefined && place < 0)
        throw invalid(`No such ${object}: '${cursor}'`, 'resource_missing', { param: name })
      return cursor === undefined ? undefined : place
    }
    const [after, before] = [indexOf('starting_after'), indexOf('ending_before')]
    const first = before === undefined ? (after ?? -1) + 1 : Math.max(0, before - limit)
    const last = before ?? first + limit
    const has_more = before === undefined ? last < all.length : first > 0
    return { id: 'list', object: 'list', url, has_more, data: all.slice(first, last) }
  }
