import { z } from 'zod'
import { instantIn } from '#domain/time-zone.ts'
import { Refused, type Read } from './read.ts'
import { zone } from './show.ts'

/** A moment of the past: a time, up to which was recorded what is shown, or the position of an event. */
export type Past = { readonly known_at: string } | { readonly position: string }

/** As a field of a form has a time: `2026-11-27T14:03`, on the clocks of London. */
const Local = z.iso.datetime({ local: true, offset: false })

/** A time as the API takes it; one that no field has written, or no calendar has, stays as it is: the API says what is wrong. */
export const instantOf = (written: string): string =>
  Local.safeParse(written).success && !written.endsWith('Z')
    ? instantIn(zone, written.slice(0, 10), written.slice(11, 16))
    : written

/** The moment that an address asks for; undefined: now. */
export const pastIn = ({ searchParams }: URL): Past | undefined => {
  const position = searchParams.get('position') ?? ''
  if (position !== '') return { position }
  const known_at = instantOf(searchParams.get('known_at') ?? '')
  if (known_at === '') return undefined
  // It is shown on the page, too, which need not wait for what the API says of it.
  if (Number.isNaN(Date.parse(known_at)))
    throw new Refused(422, 'Correct known_at: it must be a time, such as 2026-11-27T14:03.')
  return { known_at }
}

/** Reads each address as its answer was at that moment. */
export const readPast =
  (read: Read, organisation_id: string, past: Past): Read =>
  async (address, schema) => {
    const asked = new URLSearchParams({ address, ...past })
    const AsOf = z.object({ data: z.object({ answer: z.unknown() }) })
    const { data } = await read(`/audit/v1/organisations/${organisation_id}/as_of?${asked.toString()}`, AsOf)
    return schema.parse(data.answer)
  }
