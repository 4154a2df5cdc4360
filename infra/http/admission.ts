import { createHash, timingSafeEqual } from 'node:crypto'
import type { Request, Response } from 'express'
import { originOf } from '#domain/origin.ts'
import type { Makers } from '#domain/makers.ts'
import type { OrganisationId } from '#domain/values.ts'
import { bearerOf, makeAuthenticate, type Authenticated, type Directory } from './authenticate.ts'
import type { Admission } from './http.ts'
import { Problem } from './problem.ts'
import { LogUnavailable } from '../event-log/event-log.ts'
import { addressOf, rateLimitHeaders, requireServed, type RateLimit } from './rate-limit.ts'
import type { Access, Admitted, Caller, Scope, ScopeRule } from './route.ts'
import type { Session, Sessions } from './sessions.ts'
import type { StillAdmitted } from './streams.ts'
import { mayCall, namedRoles, opensForInstallation, type TeamAccess, type TeamSpec, type TeamUser } from './team.ts'
import type { Tokens } from '../crypto/tokens.ts'
import { realNow } from '../clock.ts'

type AdmissionOptions = {
  readonly directory: Directory
  readonly tokens: Tokens
  readonly baseUrl: string
  readonly rateLimit: RateLimit
  /** The operator's first key. Without it, and without people who have keys, the team's routes are as if they were not there. */
  readonly operatorKey: string | undefined
  /** The routes that the operator's keys open: all, or only those of the role `operator`. */
  readonly operatorKeyOpens?: 'everything' | 'installation'
  /** The operator's keys with names, by the SHA-256 of each. */
  readonly operatorKeys?: ReadonlyMap<string, NamedKey>
  /** The people of the teams, with the keys that they have. */
  readonly users?: KnownUsers
  /** The sessions of those who have signed in. Without it nobody has. */
  readonly sessions?: Pick<Sessions, 'of' | 'ofAll' | 'mark'>
  /** The providers by which people sign in, as they are set up now, by their ids. */
  readonly signInProviders?: KnownProviders
  /** Attempts to sign in, by address. */
  readonly signInLimit?: RateLimit
  /** Throws when the directory may lack what was revoked meanwhile, of all organisations or of this one. */
  readonly requireCurrent?: (organisation_id?: OrganisationId) => void
  /** Throws when the operator's keys with names may lack one that has ended meanwhile. */
  readonly requireCurrentKeys?: () => void
  /** Throws when the same may be so of people's keys, of an organisation or of the installation. */
  readonly requireCurrentUsers?: (organisation_id?: OrganisationId) => void
  /** True where pages of this very address, such as the explorer, may use the tokens of servers. */
  readonly allowsOwnPages?: boolean
}

/**
 * The checks that every request passes on its way in, in this order: CORS, request limit, token, application and origin,
 * scope.
 */
export const makeAdmission = ({
  directory,
  tokens,
  baseUrl,
  rateLimit,
  operatorKey,
  operatorKeyOpens = 'everything',
  operatorKeys = new Map(),
  users = { keys: new Map(), users: new Map() },
  sessions,
  signInProviders = new Map(),
  signInLimit,
  requireCurrent,
  requireCurrentKeys,
  requireCurrentUsers,
  allowsOwnPages = false,
}: AdmissionOptions): Admission & {
  /** True where a request bears a session that is in force. */
  readonly isSignedIn: (request: Request) => Promise<boolean>
  readonly stillAdmitted: StillAdmitted
} => {
  const resource = `${baseUrl}/api/v1`
  const authenticate = makeAuthenticate(directory, tokens, `${baseUrl}/oauth/token`)
  const operatorOf = makeOperatorCheck(operatorKey, operatorKeys)
  const userOf = makeUserCheck(users)
  const sessionOf = sessions && makeSessionCheck(sessions, users, signInProviders)
  const { origin } = new URL(baseUrl)

  const requireInForce = ({ organisation_id }: TeamUser): void => {
    requireCurrentUsers?.(organisation_id ?? undefined)
    if (organisation_id === null) return
    requireCurrent?.(organisation_id)
    refuseInactive(directory, organisation_id)
  }

  const admitUser = (user: TeamUser, spec: TeamSpec): Admitted => {
    requireInForce(user)
    const may = mayCall(spec, user)
    if (may === 'role') throw forbidden(`Your roles do not allow this: it is for ${namedRoles(spec)}.`)
    if (may === 'personal data')
      throw forbidden('This shows personal values, which you may not see. Ask an owner for the right to see them.')
    return { user }
  }

  const admitProgram = ({ name, scope }: Program, spec: TeamSpec, request: Request): Admitted => {
    if (name !== firstKey) requireCurrentKeys?.()
    if (operatorKeyOpens === 'installation' && !opensForInstallation(spec))
      throw forbidden(
        `Here the operator key ${name} opens only what the role operator does (OPERATOR_KEY_OPENS). This is for ${namedRoles(spec)}: use a key of such a user.`,
      )
    if (scope === 'read_only' && !spec.access.changesNothing && !isReading(request))
      throw forbidden(`The operator key ${name} may only read. Use one whose scope is all.`)
    return { operator: name }
  }

  /** Whoever sends a key, as far as it is one. */
  const admitKey = (request: Request, spec: TeamSpec): Admitted | undefined => {
    const program = operatorOf(request)
    if (program) return admitProgram(program, spec, request)
    const sender = userOf(request)
    return sender && { ...admitUser(sender.user, spec), key_made_by: sender.key_made_by }
  }

  const keepInUse = async (request: Request, { session }: SignedIn): Promise<void> => {
    if (!session.is_marked) await sessions?.mark(request.get('cookie'))
  }

  const admitTeam = async (request: Request, access: TeamAccess, fileType?: string): Promise<Admitted> => {
    const spec = { method: isReading(request) ? 'get' : 'post', access } as const
    const byKey = admitKey(request, spec)
    if (byKey) return byKey
    const signedIn = await sessionOf?.one(request)
    if (signedIn) {
      if (!access.inBackground) await keepInUse(request, signedIn)
      if (!isReading(request)) requireOwnPage(request, origin, fileType)
      return { ...admitUser(signedIn.user, spec), key_made_by: signedIn.key_made_by }
    }
    if (operatorKey === undefined && users.keys.size === 0)
      throw new Problem('not_found', 'The operator’s routes are switched off: no OPERATOR_KEY is configured.')
    throw new Problem('invalid_token', noOperatorKey, {
      headers: { 'WWW-Authenticate': 'Bearer realm="Coverstream operator"' },
    })
  }

  const admitToSession = async (request: Request, isAttempt: boolean): Promise<Admitted> => {
    if (!isReading(request)) requireOwnPage(request, origin)
    if (isAttempt && signInLimit) requireServed(await signInLimit(addressOf(request)))
    const program = operatorOf(request)
    if (program) return { operator: program.name }
    const byKey = userOf(request)
    const signedIn = byKey ? undefined : await sessionOf?.one(request)
    if (signedIn) await keepInUse(request, signedIn)
    const known = byKey ?? signedIn
    if (known && isReading(request)) requireInForce(known.user)
    return known ?? {}
  }

  const stillAdmitted: StillAdmitted = async (asked) => {
    const signedIn = await sessionOf?.all(asked.map(({ request }) => request))
    const admittedNow = ({ request, access }: (typeof asked)[number]): Admitted | undefined => {
      const spec = { method: 'get', access } as const
      const user = signedIn?.get(request)?.user
      return admitKey(request, spec) ?? (user && admitUser(user, spec))
    }
    return new Map(
      asked.flatMap((each) => {
        const admitted = withoutRefusal(() => admittedNow(each))
        return admitted ? [[each.request, admitted] as const] : []
      }),
    )
  }

  return {
    cors: (request, response) => answerCors(directory, request, response),
    isSignedIn: async (request) => (await sessionOf?.one(request)) !== undefined,
    stillAdmitted,

    limitRate: async (request, response) => {
      // The operator sets up and watches; only those who try to be the operator are counted.
      const isTeams = /^\/(admin|audit|console)(\/|$)/.test(request.path)
      if (isTeams && operatorOf(request)) return
      const user = isTeams ? userOf(request)?.user : undefined
      if (user?.organisation_id === null) return
      // A page of the service asks for what it shows.
      if (isTeams && !user && (await sessionOf?.one(request))) return
      // Colleagues share an address, and none of them is to wait for the others.
      const decision = await rateLimit(user ? `user ${user.id}` : addressOf(request))
      response.set(rateLimitHeaders(decision))
      requireServed(decision)
    },

    admit: async (request, access, fileType) => {
      if (access.kind === 'public') return {}
      if (access.kind === 'session') return admitToSession(request, access.isAttempt === true)
      if (access.kind === 'application') {
        requireCurrent?.()
        const authenticated = await authenticate(request.get('authorization'))
        requireCurrent?.(authenticated.application.organisation_id)
        const sender = { origin: request.get('origin'), isTrusted: allowsOwnPages && isOwnPage(request) }
        return { caller: admitApplication(directory, resource, authenticated, sender, access) }
      }
      return admitTeam(request, access, fileType)
    },
  }
}

/** Of one who is refused now, nothing. */
const withoutRefusal = <Found>(find: () => Found | undefined): Found | undefined => {
  try {
    return find()
  } catch (error) {
    if (error instanceof Problem || error instanceof LogUnavailable) return undefined
    throw error
  }
}

/** A person's key by its SHA-256, and each person by their id. An entry of one who has ended says so. */
type KnownUsers = {
  readonly keys: ReadonlyMap<
    string,
    { readonly user_id: string; readonly ends_at: string | null; readonly made_by: Makers }
  >
  readonly users: ReadonlyMap<
    string,
    TeamUser & {
      readonly ends_at: string | null
      readonly ended_at: string | null
      readonly links: readonly { readonly issuer: string; readonly subject_digest: string; readonly made_by: Makers }[]
    }
  >
}

/** A provider is another as soon as anything of its set-up has changed. */
type KnownProviders = ReadonlyMap<string, { readonly updated_at: string; readonly issuer: string }>

type Program = Pick<NamedKey, 'name' | 'scope'>

type NamedKey = {
  readonly name: string
  readonly scope: 'all' | 'read_only'
  readonly ends_at: string | null
  readonly ended_at: string | null
}

/** The name of the environment's key. No other has capitals. */
const firstKey = 'OPERATOR_KEY'

const noOperatorKey =
  'The request has no operator key or key of a user, or one that is wrong or has ended. Send one as Authorization: Bearer.'

const isReading = ({ method }: Request): boolean => method === 'GET' || method === 'HEAD'

const digest = (key: string) => createHash('sha256').update(key).digest()

const isOver = (ends_at: string | null): boolean => ends_at !== null && Date.parse(ends_at) <= realNow()

/** The operator key that a request carries. Digests are compared, so that the time it takes says nothing of a key. */
const makeOperatorCheck = (operatorKey: string | undefined, operatorKeys: ReadonlyMap<string, NamedKey>) => {
  const expected = operatorKey === undefined ? undefined : digest(operatorKey)
  return (request: Request): Program | undefined => {
    const sent = bearerOf(request.get('authorization'))
    if (expected === undefined || sent === undefined) return undefined
    const given = digest(sent)
    if (timingSafeEqual(given, expected)) return { name: firstKey, scope: 'all' }
    const named = operatorKeys.get(given.toString('hex'))
    return named?.ended_at === null && !isOver(named.ends_at) ? named : undefined
  }
}

/** The person whose key a request carries, while both last. */
const makeUserCheck =
  ({ keys, users }: KnownUsers) =>
  (request: Request): KnownSender | undefined => {
    const sent = keys.size === 0 ? undefined : bearerOf(request.get('authorization'))
    const key = sent === undefined ? undefined : keys.get(digest(sent).toString('hex'))
    const user = key && !isOver(key.ends_at) ? users.get(key.user_id) : undefined
    return key && user?.ended_at === null && !isOver(user.ends_at) ? { user, key_made_by: key.made_by } : undefined
  }

/** A person, and who made the key or the link by which they are known. */
type KnownSender = { readonly user: TeamUser; readonly key_made_by: Makers }
type SignedIn = KnownSender & { readonly session: Session }

/** The person who is signed in, while they, the session and what it rests on last. */
const makeSessionCheck = (
  sessions: Pick<Sessions, 'of' | 'ofAll'>,
  { keys, users }: KnownUsers,
  providers: KnownProviders,
) => {
  const known = new WeakMap<Request, Promise<SignedIn | undefined>>()

  /** The key, or the link, that a session rests on, while it is in force. */
  const basisOf = ({ user_id, basis }: Session): { readonly made_by: Makers } | undefined => {
    if ('key_digest' in basis) {
      const key = keys.get(basis.key_digest)
      return key?.user_id === user_id && !isOver(key.ends_at) ? key : undefined
    }
    const provider = providers.get(basis.provider_id)
    if (provider?.updated_at !== basis.provider_version) return undefined
    return users
      .get(user_id)
      ?.links.find(
        ({ issuer, subject_digest }) =>
          issuer === provider.issuer && (basis.link_digest === null || subject_digest === basis.link_digest),
      )
  }

  const personOf = (session: Session): SignedIn | undefined => {
    const basis = basisOf(session)
    if (!basis) return undefined
    const user = users.get(session.user_id)
    if (user?.ended_at !== null || isOver(user.ends_at)) return undefined
    const known = 'roles' in session.basis ? { ...user, roles: session.basis.roles } : user
    return { session, user: known, key_made_by: basis.made_by }
  }

  const find = async (request: Request): Promise<SignedIn | undefined> => {
    const session = await sessions.of(request.get('cookie'))
    return session && personOf(session)
  }

  // A page sends the cookie beside a key that it was given: then it is the key that counts.
  const hasNoKey = (request: Request): boolean => request.get('authorization') === undefined

  return {
    /** Looked up once for each request. */
    one: async (request: Request): Promise<SignedIn | undefined> => {
      if (!hasNoKey(request)) return undefined
      const found = known.get(request) ?? find(request)
      known.set(request, found)
      return found
    },
    /** As it is now, of several in one statement. */
    all: async (requests: readonly Request[]): Promise<ReadonlyMap<Request, SignedIn>> => {
      const cookies = requests
        .filter(hasNoKey)
        .flatMap((request): (readonly [Request, string])[] => [[request, request.get('cookie') ?? '']])
      const sessionsOf = await sessions.ofAll(cookies.map(([, cookie]) => cookie))
      return new Map(
        cookies.flatMap(([request, cookie]) => {
          const session = sessionsOf.get(cookie)
          const signedIn = session && personOf(session)
          return signedIn ? [[request, signedIn] as const] : []
        }),
      )
    },
  }
}

/**
 * Refuses what a browser may have sent for another page. `Origin` and `Sec-Fetch-Site` are set by browsers alone, and without
 * CORS no other page can send JSON, or a file of this type.
 */
const requireOwnPage = (request: Request, origin: string, fileType?: string): void => {
  const site = request.get('sec-fetch-site') ?? 'same-origin'
  if (request.get('origin') !== origin || site !== 'same-origin')
    throw forbidden(`What changes something in a session must come from a page of ${origin}: open the page there.`)
  const type = request.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json' && (type === undefined || type !== fileType))
    throw forbidden(`What changes something in a session must be sent as ${fileType ?? 'application/json'}.`)
}

/** True where a page of this very address sent the request, such as the explorer. */
const isOwnPage = (request: Request): boolean => {
  const origin = request.get('origin')
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === request.get('host')
}

/** The page that sent a request, if one did. */
type Sender = { readonly origin: string | undefined; readonly isTrusted: boolean }

const forbidden = (message: string) => new Problem('forbidden', message)

const refuseInactive = ({ organisations }: Directory, organisation_id: OrganisationId): void => {
  if (!organisations.get(organisation_id)?.active)
    throw forbidden('The organisation’s account is not active. Ask the operator of the service to activate it.')
}

const admitApplication = (
  directory: Directory,
  resource: string,
  { application, grant }: Authenticated,
  sender: Sender,
  { scopes, serverOnly }: Extract<Access, { kind: 'application' }>,
): Caller => {
  const { id, kind, organisation_id } = application
  if (grant.resource !== resource)
    throw forbidden(`The access token is not valid for this resource. Ask for one with resource=${resource}.`)
  refuseInactive(directory, organisation_id)
  checkOrigin(application, sender)
  if (serverOnly && kind === 'browser')
    throw forbidden('This endpoint is for server-only applications. Call it from your server, with one of those.')
  checkScopes(grant.scopes, scopes)
  return { organisation_id, api_application_id: id, kind, scopes: grant.scopes }
}

const checkOrigin = ({ kind, allowed_origins }: Authenticated['application'], { origin, isTrusted }: Sender): void => {
  if (kind === 'server') {
    if (origin !== undefined && !isTrusted)
      throw forbidden(
        'A server-only application’s token cannot be used from a browser. Use a browser application, with this page’s origin allowed.',
      )
    return
  }
  if (origin === undefined)
    throw forbidden(
      'A browser application’s token can be used only from web pages: the request has no Origin header. Use a server-only application.',
    )
  if (!allowed_origins.includes(originOf(origin) ?? ''))
    throw forbidden(
      'The origin of this page is not among the allowed origins of the application. Scheme, host (with www. or without) and port must match.',
    )
}

/** Refuses a token that lacks scopes, naming the alternatives that it comes closest to. */
const checkScopes = (held: ReadonlySet<Scope>, rule: ScopeRule): void => {
  const lacking = rule.map((alternative) => alternative.filter((scope) => !held.has(scope)))
  const fewest = Math.min(...lacking.map(({ length }) => length))
  if (fewest === 0) return

  const nearest = lacking.filter(({ length }) => length === fewest).map((scopes) => scopes.join(' and '))
  const missing = [...new Set(nearest)].join(', or ')
  const needed = rule.find((_alternative, index) => lacking[index]?.length === fewest) ?? []
  throw new Problem(
    'forbidden',
    `The access token lacks the scope ${missing}. Ask for it in scope with the token; the application must hold it.`,
    {
      headers: {
        'WWW-Authenticate': `Bearer realm="Coverstream API", error="insufficient_scope", scope="${needed.join(' ')}"`,
      },
    },
  )
}

const cors = {
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PATCH, PUT, DELETE',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, Idempotency-Key, X-Share-Token, X-Request-Id',
  'Access-Control-Max-Age': '7200',
}
const exposed =
  'X-RateLimit-Reset, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, Idempotent-Replay, Location, X-Ignored-Fields, X-Request-Id'

/**
 * Lets the pages of browser applications read what the API answers, errors too, and answers their preflights: those
 * carry no token, so any origin that some browser application allows may ask.
 */
const answerCors = ({ origins }: Directory, request: Request, response: Response): boolean => {
  if (!/^\/api\/v1(\/|$)/.test(request.path)) return false
  response.setHeader('Vary', 'Origin')
  const sent = request.get('origin')
  if (sent === undefined || !origins.has(originOf(sent) ?? '')) return false

  response.set('Access-Control-Allow-Origin', sent).set('Access-Control-Expose-Headers', exposed)
  const isPreflight = request.method === 'OPTIONS' && request.get('access-control-request-method') !== undefined
  if (isPreflight) response.status(204).set(cors).end()
  return isPreflight
}
