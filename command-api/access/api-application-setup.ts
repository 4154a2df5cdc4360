import { apiApplication, type ApiApplicationCommand } from '#domain/access/api-application.ts'
import type { z } from 'zod'
import type { ApiApplication, Directory } from '#domain/access/record.ts'
import { ApiApplicationId, type OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import { hashSecret, type SecretCheck } from '#infra/crypto/secret-hash.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { isLeftOut } from '../setup-file/kept.ts'
import { givenSecret, missing, reportMissing } from '../setup-file/missing-secret.ts'
import { inOrderOf, type SetupContext, type SetupSection, type SetupStep, type Whole } from '../setup-file/section.ts'
import { differences, orSay, unchanged } from './declared.ts'
import { DeclaredApiApplication } from './schemas.ts'

type Deps = {
  readonly writer: Writer
  readonly checkSecret: SecretCheck
  readonly directory: Pick<Directory, 'applications'>
}

/** With the secret that the file gives, if it does. */
type Given = Omit<DeclaredApiApplication, 'client_secret'> & { readonly client_secret: string | undefined }

const idFor = (
  { client_id, name }: Pick<DeclaredApiApplication, 'client_id' | 'name'>,
  organisation_id: OrganisationId,
) => client_id ?? ApiApplicationId.parse(derivedId('api_application', organisation_id, name))

const shown = ['name', 'scopes', 'allowed_origins'] as const

const uselessScopes = (scopes: ApiApplication['scopes']): readonly string[] =>
  scopes.includes('read') || scopes.includes('write') ? [] : ['with neither read nor write every request is refused']

/** The API applications of an organisation. A declared secret that is not the one in force replaces it. */
export const apiApplicationsSection = ({
  writer,
  checkSecret,
  directory,
}: Deps): SetupSection<DeclaredApiApplication> => {
  const { handle, load, preview } = commandHandler(writer, apiApplication)

  const planOne = async (
    declared: DeclaredApiApplication,
    index: number,
    id: ApiApplicationId,
    setup: SetupContext,
  ): Promise<SetupStep | undefined> => {
    const existing = await load(id)
    const isThere = existing && !existing.deleted && existing.organisation_id === setup.organisation_id
    if (reportMissing(setup, [index], declared, { client_secret: isThere === true })) return undefined
    const given = { ...declared, client_secret: givenSecret(declared.client_secret) }
    if (!isThere) return create(given, id, setup)
    const allowed_origins = isLeftOut(setup.declared('api_applications')[index], 'allowed_origins')
      ? [...existing.allowed_origins]
      : given.allowed_origins
    return change({ ...given, allowed_origins }, existing, setup)
  }

  const create = async (
    { name, scopes, allowed_origins, client_secret }: Given,
    api_application_id: ApiApplicationId,
    { organisation_id, context, makeSecret }: SetupContext,
  ): Promise<SetupStep> => {
    const what = `API application ${name}`
    const secret = client_secret ?? makeSecret(what, 'client_secret')
    const command: ApiApplicationCommand = {
      type: 'CreateApiApplication',
      organisation_id,
      api_application_id,
      name,
      scopes,
      allowed_origins,
      secret_hash: await hashSecret(secret),
    }
    await preview(api_application_id, command)
    return {
      what,
      change: 'create',
      details: [
        `client_id: ${api_application_id}`,
        `scopes: ${scopes.join(' ')}`,
        ...uselessScopes(scopes),
        allowed_origins.length > 0
          ? `for web pages: allowed_origins: ${allowed_origins.join(' ')}`
          : 'for servers: no web page may use it',
      ],
      apply: async () => {
        await handle(api_application_id, command, context)
      },
      ...(client_secret === undefined && { secrets: { client_secret: secret } }),
    }
  }

  const change = async (
    { name, scopes, allowed_origins, client_secret }: Given,
    existing: ApiApplication,
    { context }: SetupContext,
  ): Promise<SetupStep> => {
    const commands: ApiApplicationCommand[] = []
    const details: string[] = []

    const wanted: ApiApplicationCommand = { type: 'ChangeApiApplication', name, scopes, allowed_origins }
    const [changed] = await preview(existing.id, wanted)
    if (changed?.type === 'ApiApplicationChanged') {
      commands.push(wanted)
      details.push(...differences<Pick<ApiApplication, (typeof shown)[number]>>(existing, changed, shown))
      details.push(...uselessScopes(scopes))
    }
    if (client_secret !== undefined && !(await checkSecret(client_secret, existing.secret_hash))) {
      commands.push({
        type: 'RotateApiApplicationSecret',
        secret_hash: await hashSecret(client_secret),
        former_ends_at: null,
      })
      details.push('client_secret: replaced, which ends every token')
    }

    const what = `API application ${name}`
    if (commands.length === 0) return unchanged(what)
    const apply = async () => {
      for (const command of commands) await handle(existing.id, command, context)
    }
    return { what, change: 'change', details, apply }
  }

  return {
    key: 'api_applications',
    schema: DeclaredApiApplication,
    plan: async (declared, setup) => {
      const ids = new Set<ApiApplicationId>()
      const steps: SetupStep[] = []
      for (const [index, each] of declared.entries()) {
        const id = idFor(each, setup.organisation_id)
        if (ids.has(id)) setup.report([index], 'is the same API application as an earlier one in the list')
        ids.add(id)
        const report = (path: readonly PropertyKey[], reason: string) => setup.report([index, ...path], reason)
        const step = await orSay(report, async () => planOne(each, index, id, setup))
        if (step) steps.push(step)
      }
      return steps
    },
    exported: async ({ organisation_id }) => {
      const own = [...directory.applications.values()].filter(
        (each) => each.organisation_id === organisation_id && !each.deleted,
      )
      return inOrderOf(own, ({ name, id }) => `${name} ${id}`)?.map(writtenAs)
    },
  }
}

const writtenAs = ({ id, organisation_id, name, scopes, allowed_origins }: ApiApplication): Written => ({
  name,
  client_id: id === idFor({ name }, organisation_id) ? undefined : id,
  client_secret: missing('api_applications', name, 'client_secret'),
  scopes: [...scopes],
  allowed_origins: [...allowed_origins],
})
type Written = Whole<z.input<typeof DeclaredApiApplication>>
