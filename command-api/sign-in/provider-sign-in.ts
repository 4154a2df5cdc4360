import { createHash } from 'node:crypto'
import { z } from 'zod'
import { SignInProviderId } from '#domain/sign-in/events.ts'
import { providersOf, rolesOfClaims, signInSecretBinding, type SignInProvider } from '#domain/sign-in/record.ts'
import { isUserInForce, teamOf, type KnownUser } from '#domain/users/record.ts'
import { unseal, seal, unsealOrFault } from '#infra/crypto/seal.ts'
import { installationKeys } from '#infra/crypto/subjects.ts'
import { Problem } from '#infra/http/problem.ts'
import { sessionRoute, signInRoute, route, type Route } from '#infra/http/route.ts'
import type { CommandSide } from '../command-side.ts'
import { sql, withDeadline } from '#infra/postgres/postgres.ts'
import { makeTeam, realNow } from '../users/team.ts'
import { makeOpenId, type Person } from './openid.ts'
import { OwnPath } from './own-path.ts'
import { sessionAddress } from './session-routes.ts'
import { makeStartSession, type SessionDeps } from './start-session.ts'

export type SignInDeps = SessionDeps &
  Pick<CommandSide, 'allowsHttp' | 'baseUrl' | 'keys' | 'log' | 'outside' | 'signInProviders'>

const callback = `${sessionAddress}/callback`
const byProvider = { method: 'GET', route: `${callback}/:provider_id` }

/** So long somebody may take at the provider. */
const askedSeconds = 600

/** Kept by a browser meanwhile, sealed. */
const Kept = z.object({
  provider_id: SignInProviderId,
  provider_version: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  opens: z.string(),
  invitation_digest: z.string().nullable(),
  until: z.string(),
})
type Kept = z.infer<typeof Kept>

const keptBinding = ['sign-in']

/** The parameters of an answer; a provider may add others. */
const Answer = z.object({
  code: z.string().max(4_096).optional(),
  state: z.string().max(1_000).optional(),
  iss: z.string().max(500).optional(),
  error: z.string().max(200).optional(),
  error_description: z.string().max(1_000).optional(),
})

const refused = (message: string, cause?: unknown) => new Problem('forbidden', message, { cause })
const beginAgain = 'Begin the sign-in again, in this browser.'

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

type Known = { readonly user: KnownUser; readonly link_digest: string }

/** Makes a user known by what the provider calls them. */
const makeFindUser = (deps: SignInDeps) => {
  const { users, dataKeys } = deps
  const { handle, emailDigest, withEmail } = makeTeam(deps)
  const { requireAdmitted } = makeStartSession(deps)

  const subjectDigest = async ({ organisation_id, issuer }: SignInProvider, subject: string): Promise<string> => {
    const named = JSON.stringify([issuer, subject])
    const digest = await dataKeys.digest(organisation_id ?? installationKeys, 'subject of a user', named)
    return digest.toString('base64url')
  }

  /** Who was invited, or has this email, which an owner has entered and the provider has verified. */
  const firstTime = async (
    { organisation_id }: SignInProvider,
    { email, isEmailVerified }: Person,
    invitation_digest: string | null,
  ): Promise<KnownUser | undefined> => {
    const inForce = (each: KnownUser) => isUserInForce(each, realNow())
    if (invitation_digest !== null)
      return teamOf(users, organisation_id)
        .filter(inForce)
        .find(({ invitation }) => invitation?.digest === invitation_digest)
    if (email === undefined || !isEmailVerified) return undefined
    return withEmail(organisation_id, await emailDigest(organisation_id, email)).find(inForce)
  }

  const hasVerifiedEmail = async ({ email, isEmailVerified }: Person, known: KnownUser): Promise<boolean> =>
    email !== undefined && isEmailVerified && (await emailDigest(known.organisation_id, email)) === known.email_digest

  return async (
    provider: SignInProvider,
    person: Person,
    { invitation_digest, request_id }: { readonly invitation_digest: string | null; readonly request_id: string },
  ): Promise<Known> => {
    const { issuer, organisation_id } = provider
    const subject_digest = await subjectDigest(provider, person.subject)
    const known = teamOf(users, organisation_id).find(({ links }) =>
      links.some((link) => link.issuer === issuer && link.subject_digest === subject_digest),
    )
    if (known && isUserInForce(known, realNow())) {
      await requireAdmitted(known)
      return { user: known, link_digest: subject_digest }
    }
    const found = await firstTime(provider, person, invitation_digest)
    if (!found)
      throw refused(
        invitation_digest === null
          ? 'Nobody of the team is known by this account. Ask an owner to invite you, or to enter your email as the provider has verified it.'
          : 'The invitation was used, has ended, or is of another team. Ask an owner for another.',
      )
    // A sign-in that is refused uses up no invitation.
    await requireAdmitted(found)
    const now = realNow()
    const { subject } = person
    const email_verified = await hasVerifiedEmail(person, found)
    await handle(
      found.id,
      { type: 'LinkUser', issuer, subject, subject_digest, invitation_digest, email_verified, real_now: now },
      { organisation_id, actor: { type: 'user', id: found.id }, correlation_id: request_id, now },
    )
    return { user: found, link_digest: subject_digest }
  }
}

const usedWithinMs = 2_000

/** True for the first answer to a sign-in that a browser has begun, in all processes. */
const makeUseOnce =
  (pool: SignInDeps['pool']) =>
  async ({ state, until }: Kept): Promise<boolean> => {
    const used = sql`
      with over as (
        delete from sign_in_answered where digest in (
          select digest from sign_in_answered where begun_until < now() limit 100 for update skip locked)
      )
      insert into sign_in_answered (digest, begun_until) values (${digestOf(state)}, ${until})
      on conflict do nothing`
    const { rowCount } = await pool.query(withDeadline(used, usedWithinMs))
    return rowCount === 1
  }

/** Signing in by a provider: the browser goes there, and comes back with an answer that only it can use, once. */
export const providerSignInRoutes = (deps: SignInDeps): Route[] => {
  const { allowsHttp, baseUrl, directory, keys, log, outside, sessions, signInProviders } = deps
  const redirectOf = (provider_id: SignInProviderId) => `${baseUrl}${callback}/${provider_id}`
  const openId = makeOpenId({ http: outside, allowsHttp, redirectOf })
  const findUser = makeFindUser(deps)
  const { start } = makeStartSession(deps)
  const useOnce = makeUseOnce(deps.pool)

  const secretOf = ({ id, organisation_id, sealed_secret }: SignInProvider): string =>
    unseal(keys, sealed_secret, signInSecretBinding(organisation_id ?? installationKeys, id))

  /** The values that this browser keeps of the sign-in that it has begun. */
  const keptIn = (header: string | undefined): Kept | undefined => {
    const sealed = sessions.begun.read(header)
    const opened = sealed === undefined ? undefined : unsealOrFault(keys, sealed, keptBinding)
    if (!opened || 'fault' in opened) return undefined
    const kept = Kept.parse(JSON.parse(opened.secret))
    return kept.until > realNow() ? kept : undefined
  }

  const personOf = async (provider: SignInProvider, kept: Kept, answer: z.output<typeof Answer>): Promise<Person> => {
    const given = Object.entries(answer).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    )
    try {
      return await openId.finish(provider, secretOf(provider), kept, Object.fromEntries(given))
    } catch (error) {
      if (error instanceof Problem) throw error
      log.warn({ error, provider: provider.id }, 'sign-in refused')
      throw refused(`What the provider has answered cannot be used. ${beginAgain}`, error)
    }
  }

  return [
    route(
      {
        ...sessionRoute,
        method: 'get',
        address: `${sessionAddress}/providers`,
        summary: 'List the providers by which the users of an organisation, or of the installation, can sign in',
        query: z.object({ organisation: z.string().max(100).optional().describe('The slug of the organisation.') }),
        answers: { 200: z.object({ data: z.array(z.object({ id: SignInProviderId, name: z.string() })) }) },
      },
      async ({ query: { organisation } }) => {
        const found = [...directory.organisations.values()].find(({ slug }) => slug === organisation)
        const isUnknown = organisation !== undefined && !found
        const providers = isUnknown ? [] : providersOf(signInProviders, found?.id ?? null)
        return { status: 200, body: { data: providers.map(({ id, name }) => ({ id, name })) } }
      },
    ),
    route(
      {
        ...signInRoute,
        method: 'post',
        address: `${sessionAddress}/provider`,
        summary: 'Begin to sign in by a provider: open the address that is answered',
        body: z.object({
          provider_id: SignInProviderId,
          opens: OwnPath.default(sessionAddress).describe('What is opened after the sign-in.'),
          invitation: z.string().max(200).optional(),
        }),
        answers: { 200: z.object({ data: z.object({ url: z.url() }) }) },
        errors: ['forbidden', 'not_found'],
      },
      async ({ body: { provider_id, opens, invitation } }) => {
        const provider = signInProviders.get(provider_id)
        if (!provider) throw new Problem('not_found', 'There is no sign-in provider with this id.')
        const { asked, url } = await openId.begin(provider, secretOf(provider))
        const kept: Kept = {
          ...asked,
          provider_id,
          provider_version: provider.updated_at,
          opens,
          invitation_digest: invitation === undefined ? null : digestOf(invitation),
          until: new Date(Date.parse(realNow()) + askedSeconds * 1_000).toISOString(),
        }
        const sealed = seal(keys, JSON.stringify(kept), keptBinding)
        return {
          status: 200,
          body: { data: { url } },
          headers: { 'Set-Cookie': sessions.begun.set(sealed, askedSeconds) },
        }
      },
    ),
    route(
      {
        // To begin was the attempt: pages of others can send a browser here, too.
        ...sessionRoute,
        method: 'get',
        address: `${callback}/:provider_id`,
        summary: 'Where a provider sends browsers back to. Who it signs in goes on to what they wanted to open',
        path: z.object({ provider_id: SignInProviderId }),
        query: Answer,
        answers: { 303: z.object({ data: z.object({ opens: z.string() }) }) },
        errors: ['forbidden'],
      },
      async (request) => {
        const { header, path, query: answer, request_id } = request
        const kept = keptIn(header('cookie'))
        // Each has an address of its own, so that no provider can hand on the answer of another.
        if (!kept || answer.state !== kept.state || path.provider_id !== kept.provider_id)
          throw refused(`This browser has not begun this sign-in. ${beginAgain}`)
        const provider = signInProviders.get(kept.provider_id)
        if (provider?.updated_at !== kept.provider_version)
          throw refused(`The provider was changed meanwhile. ${beginAgain}`)
        if (!(await useOnce(kept))) throw refused(`This sign-in was answered already. ${beginAgain}`)
        const person = await personOf(provider, kept, answer)
        const roles = rolesOfClaims(provider, person.claims)
        if (roles.length === 0)
          throw refused('Nothing that the provider says of you has a role here. Ask an owner of your team.')
        const { user, link_digest } = await findUser(provider, person, { ...kept, request_id })
        const basis = { provider_id: provider.id, provider_version: provider.updated_at, roles, link_digest }
        const session = await start(user, basis, request, byProvider)
        const Location = `${new URL(baseUrl).origin}${kept.opens}`
        return {
          status: 303,
          body: { data: { opens: kept.opens } },
          headers: { Location, 'Set-Cookie': [session, sessions.begun.clear] },
        }
      },
    ),
  ]
}
