import { createHash, randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { z } from 'zod'
import { UserId, UserRole } from '#domain/values.ts'
import { sql, withDeadline } from '../postgres/postgres.ts'
import { makeCookie, type Cookie, type CookiePlace } from './cookies.ts'

/** The key, or the provider, that a session rests on: with it, the session ends. */
export type Basis =
  | { readonly key_digest: string }
  /** A provider as it was set up at sign-in, the roles that it named, and the link by which it knows the user. */
  | {
      readonly provider_id: string
      readonly provider_version: string
      readonly roles: readonly UserRole[]
      /** Null: a process of the version before has begun the session. */
      readonly link_digest: string | null
    }

export type Session = {
  readonly user_id: UserId
  readonly basis: Basis
  readonly started_at: string
  readonly ends_at: string
  /** True where it is kept already that it was used within the last minute. */
  readonly is_marked: boolean
}

export type Sessions = {
  /** The session of a `Cookie` header, while it lasts. */
  readonly of: (cookie: string | undefined) => Promise<Session | undefined>
  /** The same of several headers in one statement, by the header. */
  readonly ofAll: (cookies: readonly string[]) => Promise<ReadonlyMap<string, Session>>
  /** Keeps that the session of a header was used, so that it lasts on. */
  readonly mark: (cookie: string | undefined) => Promise<void>
  /** Begins a session under a new id, in place of that of the header, and answers its `Set-Cookie`. */
  readonly start: (user_id: UserId, basis: Basis, former: string | undefined) => Promise<string>
  /** Ends the session of the header. True where there was one; the `Set-Cookie` takes the cookie away. */
  readonly end: (cookie: string | undefined) => Promise<{ readonly wasThere: boolean; readonly clear: string }>
  /** Kept by a browser while its user is at a provider. */
  readonly begun: Cookie
}

/** However much it is used, a session ends after a day; sooner where nobody uses it. */
const lastsSeconds = 24 * 60 * 60
const idleSeconds = 8 * 60 * 60
/** That a session was used is written so often at most. */
const markedEverySeconds = 60
/** Of one user. The oldest ends for another. */
const mostSessions = 20
const withinMs = 2_000
/** So many that are over are taken away at a sign-in. */
const takenAway = 100

const idBytes = 32

const Row = z
  .object({
    digest: z.instanceof(Buffer),
    user_id: UserId,
    key_digest: z.string().nullable(),
    provider_id: z.string().nullable(),
    provider_version: z.string().nullable(),
    roles: z.array(UserRole).nullable(),
    link_digest: z.string().nullable(),
    started_at: z.date(),
    is_marked: z.boolean(),
  })
  .transform(({ digest, user_id, started_at, is_marked, ...of }): { readonly digest: string; session: Session } => {
    const { key_digest, provider_id, provider_version, roles, link_digest } = of
    const basis =
      key_digest === null
        ? { provider_id: provider_id ?? '', provider_version: provider_version ?? '', roles: roles ?? [], link_digest }
        : { key_digest }
    const ends_at = new Date(started_at.getTime() + lastsSeconds * 1_000).toISOString()
    const session = { user_id, basis, started_at: started_at.toISOString(), ends_at, is_marked }
    return { digest: digest.toString('hex'), session }
  })

/** The sessions of users in their browsers, in the database: what one process ends has ended in all. */
export const makeSessions = (pool: Pool, place: CookiePlace): Sessions => {
  const cookie = makeCookie('coverstream_session', place)

  /** The hash of the id in a header. An id is too long to be guessed, so that a plain hash will do. */
  const digestIn = (header: string | undefined): Buffer | undefined => {
    const id = cookie.read(header)
    return id === undefined || !/^[\w-]{43}$/.test(id) ? undefined : digestOf(id)
  }

  const find = async (digests: readonly Buffer[]): Promise<ReadonlyMap<string, Session>> => {
    if (digests.length === 0) return new Map()
    const { rows } = await pool.query(withDeadline(inForce(digests), withinMs))
    return new Map(rows.map((row) => Row.parse(row)).map(({ digest, session }) => [digest, session]))
  }

  return {
    begun: makeCookie('coverstream_sign_in', place),
    of: async (header) => {
      const digest = digestIn(header)
      return digest && (await find([digest])).get(digest.toString('hex'))
    },
    ofAll: async (headers) => {
      const digests = headers.map((header) => [header, digestIn(header)] as const)
      const found = await find(digests.flatMap(([, digest]) => digest ?? []))
      return new Map(
        digests.flatMap(([header, digest]) => {
          const session = digest && found.get(digest.toString('hex'))
          return session ? [[header, session] as const] : []
        }),
      )
    },
    mark: async (header) => {
      const digest = digestIn(header)
      if (digest) await pool.query(withDeadline(mark(digest), withinMs))
    },
    start: async (user_id, basis, former) => {
      const id = randomBytes(idBytes).toString('base64url')
      const replaced = digestIn(former) ?? Buffer.alloc(0)
      await pool.query(withDeadline(begin(digestOf(id), user_id, basis, replaced), withinMs))
      return cookie.set(id, lastsSeconds)
    },
    end: async (header) => {
      const digest = digestIn(header)
      const { rowCount } = digest
        ? await pool.query(withDeadline(sql`delete from user_session where digest = ${digest}`, withinMs))
        : { rowCount: 0 }
      return { wasThere: rowCount === 1, clear: cookie.clear }
    },
  }
}

const digestOf = (id: string): Buffer => createHash('sha256').update(id).digest()

const inForce = (digests: readonly Buffer[]) => sql`
  select digest, user_id, key_digest, provider_id, provider_version, roles, link_digest, started_at,
    used_at > now() - make_interval(secs => ${markedEverySeconds}) as is_marked
  from user_session
  where digest = any(${digests}::bytea[])
    and started_at > now() - make_interval(secs => ${lastsSeconds})
    and used_at > now() - make_interval(secs => ${idleSeconds})`

const mark = (digest: Buffer) => sql`update user_session set used_at = now() where digest = ${digest}`

const begin = (digest: Buffer, user_id: UserId, basis: Basis, replaced: Buffer) => {
  const { key_digest, provider_id, provider_version, roles, link_digest } = {
    key_digest: null,
    provider_id: null,
    provider_version: null,
    roles: null,
    link_digest: null,
    ...basis,
  }
  return sql`
    with over as (
      delete from user_session where digest in (
        select digest from user_session where started_at <= now() - make_interval(secs => ${lastsSeconds})
        limit ${takenAway} for update skip locked)
    ), beyond as (
      delete from user_session where user_id = ${user_id} and digest in (
        select digest from user_session where user_id = ${user_id} order by started_at desc offset ${mostSessions - 1})
    ), former as (
      delete from user_session where digest = ${replaced}
    )
    insert into user_session (digest, user_id, key_digest, provider_id, provider_version, roles, link_digest)
    values (
      ${digest}, ${user_id}, ${key_digest}, ${provider_id}, ${provider_version}, ${roles}::text[], ${link_digest})`
}
