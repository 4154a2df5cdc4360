import type { View } from './view.ts'
import { z } from 'zod'
import { UserRole } from '#domain/values.ts'
import type { Read } from './read.ts'
import type { Past } from './past.ts'

/** Whoever is signed in, as `GET /admin/v1/session` answers. */
export const SignedIn = z.object({
  id: z.string(),
  organisation_id: z.string().nullable(),
  name: z.string(),
  email: z.string(),
  roles: z.array(UserRole),
  sees_personal_data: z.boolean(),
})
export type SignedIn = z.infer<typeof SignedIn>

/** A request for a page. */
export type Asked = {
  readonly me: SignedIn
  /** The organisation whose pages these are. */
  readonly organisation: { readonly id: string; readonly name: string } | undefined
  readonly path: Readonly<Record<string, string>>
  readonly url: URL
  /** The moment that the page is of; undefined: now. Nothing can be done then. */
  readonly past: Past | undefined
  /** The time of business, at which it is asked, and its date. */
  readonly at: string
  readonly today: string
  /** Reads as of that moment. */
  readonly read: Read
  /** Reads as it is now, also then: lists, and what happened. */
  readonly now: Read
}

export type Shown = {
  readonly title: string
  /** It tells the record from others of the same title, as its number does, where an act is asked. */
  readonly about?: string
  readonly main: View
}

/** In place of a page, the address of another. */
export type Opened = { readonly opens: string }

/**
 * A page. Its address is that of what it shows in the API, with `/console` in place of `/admin/v1`, so that each can be guessed from the
 * other.
 */
export type Page = {
  readonly address: string
  readonly show: (asked: Asked) => Promise<Shown | Opened>
}

/** The address of a page of an organisation. */
export const pageOf = (organisation_id: string, path: string): string =>
  `/console/organisations/${organisation_id}/${path}`

/** The address of the API that the same list or record has. */
export const apiOf = (organisation_id: string, path: string): string =>
  `/admin/v1/organisations/${organisation_id}/${path}`

/** The same of the audit API. */
export const auditOf = (organisation_id: string, path: string): string =>
  `/audit/v1/organisations/${organisation_id}/${path}`

/** The parameters of an address that a list of the API knows, as they were asked for. */
export const asked = (url: URL, names: readonly string[]): URLSearchParams => {
  const sent = new URLSearchParams()
  for (const name of [...names, 'cursor']) {
    const value = url.searchParams.get(name) ?? ''
    if (value !== '') sent.set(name, value)
  }
  return sent
}
