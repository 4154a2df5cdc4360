import { z } from 'zod'
import { OwnError } from '#domain/own-error.ts'
import type { ErrorCode } from '#domain/rejection.ts'
import type { Makers } from '#domain/makers.ts'
import type { ApiApplicationId, ApplicationId, OrganisationId } from '#domain/values.ts'
import type { Session } from './sessions.ts'
import type { TeamAccess, TeamRole, TeamUser } from './team.ts'

export type Scope = 'read' | 'write' | 'crm' | 'outcomes'

/** A token must hold every scope of at least one of the alternatives. */
export type ScopeRule = readonly (readonly Scope[])[]

export const readOrWrite: ScopeRule = [['read'], ['write']]
export const write: ScopeRule = [['write']]

/** The API application that sends a request, and the organisation to which everything it may see belongs. */
export type Caller = {
  readonly organisation_id: OrganisationId
  readonly api_application_id: ApiApplicationId
  /** A browser application's tokens are public: it may do only what any visitor may do. */
  readonly kind: 'server' | 'browser'
  readonly scopes: ReadonlySet<Scope>
}

/** The admitted sender: an API application, a person of the team, or a key that is a program's; none where none is needed. */
export type Admitted = {
  readonly caller?: Caller
  readonly user?: TeamUser
  readonly operator?: string
  /** The session by which the person is known, where no key was sent. */
  readonly session?: Session
  /** Who made the key, or the link, by which the person is known. */
  readonly key_made_by?: Makers
}

/**
 * The record that a request is about, and which of the organisation's API applications may see it:
 * - `share_token_holder`: servers, and web pages that send the share token of the application that it belongs to;
 * - `sender`: the API application that sent it.
 */
export type Subject = {
  /** As in the answer to a request for one that is not there: `application`, `quote`. */
  readonly type: string
  /** The parameter of the path that holds its id. */
  readonly parameter: string
  readonly visibleTo: 'share_token_holder' | 'sender'
}

/** The permitted senders of a request: an API application with these scopes, people of the team with these roles, or anyone. */
export type Access =
  | {
      readonly kind: 'application'
      readonly scopes: ScopeRule
      readonly serverOnly: boolean
      readonly subject?: Subject
    }
  | TeamAccess
  /** Whoever signs in, is signed in or signs out, with a key of the team or without; sent from the service's own pages. */
  | { readonly kind: 'session'; readonly isAttempt?: true }
  | { readonly kind: 'public' }

type Roles = readonly [TeamRole, ...TeamRole[]]

/** A route of the team, for people with one of these roles. Those who only read need not be named. Its answers are recorded. */
export const teamRoute = (...roles: Roles) =>
  ({ tag: 'Operator', access: { kind: 'team', roles, showsPersonalData: true } }) as const

/** The same, where nothing that is answered tells of a person: not recorded, and also for auditors who may not see such values. */
export const impersonalRoute = (...roles: Roles) =>
  ({ tag: 'Operator', access: { kind: 'team', roles, showsPersonalData: false } }) as const

/** A route for auditors alone, of the organisation or of the installation. */
export const auditRoute = {
  tag: 'Operator',
  access: { kind: 'team', roles: [], showsPersonalData: true, forAuditors: true },
} as const

/** A route by which users sign in and out, which the service's own pages call. */
export const sessionRoute = { tag: 'Operator', access: { kind: 'session' } } as const

/** The same where it is an attempt to sign in, of which each address has a few. */
export const signInRoute = { tag: 'Operator', access: { kind: 'session', isAttempt: true } } as const

/** The same route, where a page asks by itself: that does not count as use of a session. */
export const inBackground = <const Team extends TeamRoute>(team: Team) =>
  ({ ...team, access: { ...team.access, inBackground: true } }) as const

export type TeamRoute = ReturnType<typeof teamRoute> | ReturnType<typeof impersonalRoute>

/** Access to the record whose id is in the address: servers, and visitors with the share token of its application. */
export const accessTo = (type: 'application' | 'policy' | 'quote', scopes: ScopeRule) =>
  ({
    kind: 'application',
    scopes,
    serverOnly: false,
    subject: { type, parameter: 'id', visibleTo: 'share_token_holder' },
  }) as const satisfies Access

type Schemas = {
  readonly path?: z.ZodType
  readonly query?: z.ZodType
  readonly body?: z.ZodType
  /** The schema of the body for each status of success. */
  readonly answers: Readonly<Record<number, z.ZodType>>
}

/** One operation of an API, as data: what is checked, documented and served. */
export type RouteSpec = Schemas & {
  readonly method: 'get' | 'post' | 'patch' | 'put' | 'delete'
  /** From the base address on, with parameters as `:name`. */
  readonly address: string
  /** The last parameter takes all the steps that are left of a path: `001/002`. */
  readonly takesRest?: true
  readonly tag: string
  readonly summary: string
  readonly access: Access
  /** Request headers of its own that the operation reads, with their meaning. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * The places where the body holds JSON of the caller's that is kept as it was given, `events.payload` being that of each
   * event: there, a number that we would write otherwise than it was sent is its text.
   */
  readonly asGiven?: readonly string[]
  /** The type of a body that is not JSON: the handler gets its text. */
  readonly textBody?: string
  /** The media types of a success that is a file: the body is its bytes, and the headers of the answer name the type. */
  readonly fileTypes?: readonly string[]
  /** A success can also be asked for as a file of this media type, for which the handler answers its bytes. */
  readonly alsoAs?: string
  /**
   * Asked for as text/event-stream, the answer goes on, and each event holds its body as it is then. Nothing of a person may be among
   * it: that somebody is shown such values is recorded for each answer.
   */
  readonly streams?: true
  /** A request that succeeds on the demo organisation. */
  readonly example?: {
    readonly path?: Readonly<Record<string, string>>
    readonly query?: Readonly<Record<string, string>>
    readonly body?: Readonly<Record<string, unknown>>
  }
  /** The error codes beyond those that every operation can answer (401, 403, 404, 422, 429, 503). */
  readonly errors?: readonly ErrorCode[]
}

export type RequestFacts = {
  readonly request_id: string
  /** The name of the program's key that was sent, where a route is the team's. */
  readonly operator?: string | undefined
  /** The person whose key or session was sent, where a route is the team's. */
  readonly user?: TeamUser | undefined
  readonly session?: Session | undefined
  /** Who made the key, or the link, by which the person is known. */
  readonly key_made_by?: Makers | undefined
  /** The arrival of the request in business time, ISO 8601. */
  readonly now: string
  readonly header: (name: string) => string | undefined
  /** True where the request carries the share token of this application. */
  readonly isProven: (application_id: ApplicationId) => boolean
  /** The raw body, where the route's spec has no schema for it. */
  readonly text: string | undefined
  /** The texts in the body that were sent as numbers, where it is taken as given. */
  readonly numbers: readonly string[]
}

/** The body of an answer that is a file. */
export const FileBody = z.custom<Uint8Array>((value) => value instanceof Uint8Array)

type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined

export type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>

/** The paths of sent values that are not kept: named in `X-Ignored-Fields` as unknown fields are. */
type Ignored = readonly string[]

type AnswerOf<Spec extends Schemas & { readonly alsoAs?: string }> = {
  [Status in keyof Spec['answers'] & number]: {
    readonly status: Status
    readonly body: z.input<Spec['answers'][Status]> | (Spec['alsoAs'] extends string ? Uint8Array : never)
    readonly headers?: AnswerHeaders
    readonly ignored?: Ignored
    readonly shows?: readonly unknown[]
    readonly stream?: OpenStream
  }
}[keyof Spec['answers'] & number]

type Inputs<Spec extends Schemas> = RequestFacts & {
  readonly path: Output<Spec['path']>
  readonly query: Output<Spec['query']>
  readonly body: Output<Spec['body']>
}

type WithCaller<Spec extends RouteSpec> = Spec['access'] extends { kind: 'application' }
  ? { readonly caller: Caller }
  : unknown

/** An event of a stream. A client that comes back sends the id of the last that it got as `Last-Event-ID`. */
export type StreamedEvent = { readonly id: string; readonly data: unknown }

/** Begins to tell what there is, and what becomes of it; the function that it answers ends that. */
export type OpenStream = (tell: (event: StreamedEvent) => void) => () => void

export type Answer = {
  readonly status: number
  readonly body: unknown
  readonly headers?: AnswerHeaders
  readonly ignored?: Ignored
  /** The rows that a file shows, by which it is recorded who was shown what. */
  readonly shows?: readonly unknown[]
  /** In place of the body, an answer that goes on. */
  readonly stream?: OpenStream
}

/** Thrown where a request ends in another way than its route says by itself, and that is no failure. */
export class EndedOtherwise extends OwnError {
  override readonly name: string = 'EndedOtherwise'
  readonly answer: Answer

  constructor(message: string, answer: Answer) {
    super(message)
    this.answer = answer
  }
}

/** A request whose parts have passed the schemas of its route. */
export type CheckedRequest = RequestFacts & {
  readonly path: unknown
  readonly query: unknown
  readonly body: unknown
  readonly caller: Caller | undefined
}

export type Route = {
  readonly spec: RouteSpec
  readonly handle: (request: CheckedRequest) => Promise<Answer>
  readonly onUnfitBody?: (request: CheckedRequest) => Promise<void>
}

/**
 * Ties a handler to its specification: what it receives and what it answers follow from the schemas.
 * `onUnfitBody` sees a body that does not fit its schema, or is none, and throws if the request is to be refused for another reason.
 */
export const route = <const Spec extends RouteSpec, const Given extends AnswerOf<Spec>>(
  spec: Spec,
  handle: (request: Inputs<Spec> & WithCaller<Spec>) => Promise<Given>,
  onUnfitBody?: (request: Omit<Inputs<Spec>, 'body'> & { readonly body: unknown } & WithCaller<Spec>) => Promise<void>,
): Route => ({
  spec,
  // The frame calls these only with what has passed these very schemas, and with a caller where the access asks for one.
  handle: handle as unknown as Route['handle'],
  ...(onUnfitBody && { onUnfitBody: onUnfitBody as unknown as NonNullable<Route['onUnfitBody']> }),
})
