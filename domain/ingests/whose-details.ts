import { detailNamed, detailOfKind, isPerson, mayBePersons, partNamed, plain, type DetailName } from './field-names.ts'
import type { Leaf, Path } from './leaves.ts'

/** A value as we read it. */
export type Meaning = {
  readonly leaf: Leaf
  /** The key that the campaign's names of fields give it. */
  readonly mapped: string | undefined
  readonly detail: DetailName | undefined
  /** The object or the list that it stands in. */
  readonly holder: Path
}
export type Detail = Meaning & { readonly detail: DetailName }

export const meaningOf = (leaf: Leaf, ours: ReadonlyMap<string, string>): Omit<Meaning, 'leaf'> => {
  const { path, names } = leaf
  const called = [path.join('.'), path.at(-1) ?? '', ...names].map(plain)
  const mapped = called.map((name) => ours.get(name)).find((each) => each !== undefined)
  if (mapped !== undefined) return { mapped, detail: detailNamed(mapped), holder: path.slice(0, -1) }
  return { mapped, detail: undefined, holder: path.slice(0, -1), ...detailAt(leaf) }
}

/** A name within something else, such as a product, is not the person's. */
const detailAt = ({ path, names }: Leaf): Pick<Meaning, 'detail' | 'holder'> | undefined => {
  const places = path.flatMap((each, index) => each.split('__').map((place) => ({ place: unnumbered(place), index })))
  const last = places.at(-1)
  const parent = places.at(-2)
  const isTheirs = (above: typeof places) => above.every(({ place }) => mayBePersons(place))
  if (last === undefined) return undefined
  const above = places.slice(0, -1)
  if (isTheirs(above)) {
    const detail = [last.place, ...names].map(detailNamed).find((each) => each !== undefined)
    return detail && { detail, holder: above.map(({ place }) => place) }
  }
  const whole = parent && detailNamed(parent.place)
  const part = whole && partNamed(whole, last.place)
  return part && isTheirs(above.slice(0, -1))
    ? { detail: part, holder: above.slice(0, -1).map(({ place }) => place) }
    : undefined
}

/** "q3_email" */
const unnumbered = (place: string): string => place.replace(/^q\d+_/, '')

const isContact = ({ detail }: Meaning): boolean => detail === 'email' || detail === 'phone_number'
const isAmbiguous = ({ detail }: Meaning): boolean => detail === 'name' || detail === 'title'

/**
 * Those of the values that are details of the person, in the order in which they count. A name or a title is theirs where
 * their email address or telephone number stands: above that it is the name of what holds all this, such as a form.
 */
export const detailsOfPerson = (found: readonly Meaning[]): readonly Detail[] => {
  const known = [...found, ...byKind(found)].filter((each): each is Detail => each.detail !== undefined)
  const contacts = known.filter(isContact)
  const person = (contacts.find(({ detail }) => detail === 'email') ?? contacts[0])?.holder
  if (person === undefined) return known
  const ranked = known.filter(isAmbiguous).flatMap((each) => {
    const rank = rankOf(each, person, contacts)
    return rank === undefined ? [] : [{ each, rank }]
  })
  const names = ranked.toSorted((one, other) => one.rank - other.rank).map(({ each }) => each)
  return [...known.filter((each) => !isAmbiguous(each)), ...names]
}

/** The lower, the surer a name or a title is the person's; undefined: it is not. */
const rankOf = (each: Detail, person: Path, contacts: readonly Detail[]): number | undefined => {
  const { holder, leaf, mapped } = each
  if (mapped !== undefined) return 0
  // Where both are sent, a title is what somebody is at work.
  const later = plain(leaf.path.at(-1) ?? '') === 'title' ? 0.5 : 0
  if (isSamePath(holder, person)) return 1 + later
  if (isWithin(holder, person)) return 2 + later
  if (contacts.some((contact) => isSamePath(contact.holder, holder))) return 3 + later
  if (isWithin(person, holder)) return undefined
  return isPerson(holder.at(-1) ?? '') ? 4 + later : undefined
}

const isWithin = (inner: Path, outer: Path): boolean =>
  inner.length > outer.length && outer.every((place, index) => inner[index] === place)
const isSamePath = (one: Path, other: Path): boolean =>
  one.length === other.length && one.every((place, index) => other[index] === place)

/** Where no field has such a name: the only one that its sender marks as an email address, or a phone. */
const byKind = (found: readonly Meaning[]): readonly Meaning[] =>
  (['email', 'phone_number'] as const).flatMap((wanted) => {
    if (found.some(({ detail }) => detail === wanted)) return []
    const [only, another] = found.filter(
      ({ leaf, detail, mapped, holder }) =>
        detail === undefined &&
        mapped === undefined &&
        leaf.kind !== undefined &&
        holder.every(mayBePersons) &&
        detailOfKind(leaf.kind, [leaf.path.at(-1) ?? '', ...leaf.names]) === wanted,
    )
    return only && !another ? [{ ...only, detail: wanted }] : []
  })
