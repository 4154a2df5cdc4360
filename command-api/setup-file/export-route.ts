import { z } from 'zod'
import type { Organisation } from '#domain/access/record.ts'
import { notFound } from '#domain/rejection.ts'
import { OrganisationId } from '#domain/values.ts'
import { route, teamRoute, type RequestFacts, type Route } from '#infra/http/route.ts'
import { exportSetup, setupYaml } from './export-setup.ts'
import type { AnySetupSection } from './section.ts'

type Deps = {
  readonly organisations: ReadonlyMap<string, Organisation>
  readonly sections: readonly AnySetupSection[]
}

const Exported = z.object({
  data: z.object({
    setup: z.object({ organisations: z.array(z.record(z.string(), z.unknown())) }).describe('The file itself.'),
    files: z.record(z.string(), z.string()).describe('The texts of the files that it names: rate tables.'),
    binary_files: z.record(z.string(), z.string()).describe('In base64, the documents that it names.'),
  }),
})

const format = z.enum(['yaml', 'json']).optional().describe('json: as JSON; so does Accept: application/json.')

const wantsJson = (asked: z.output<typeof format>, { header }: Pick<RequestFacts, 'header'>): boolean =>
  asked === undefined ? /\bapplication\/json\b/i.test(header('accept') ?? '') : asked === 'json'

/** The set-up file that an organisation would have, had all of it come from a file. */
export const setupExportRoute = ({ organisations, sections }: Deps): Route =>
  route(
    {
      ...teamRoute('owner', 'operator'),
      method: 'get',
      address: '/admin/v1/organisations/:organisation_id/setup',
      summary:
        'Export the set-up of an organisation as the file that declares it (YAML, or JSON); applied, it changes nothing. Secrets are named in it, and not shown',
      path: z.object({ organisation_id: OrganisationId }),
      query: z.object({ format }),
      errors: ['conflict'],
      answers: { 200: Exported },
      alsoAs: 'application/yaml',
    },
    async ({ path: { organisation_id }, query, ...facts }) => {
      const organisation = organisations.get(organisation_id)
      if (!organisation) throw notFound('organisation')
      const exported = await exportSetup(organisation, sections)
      const shows = exported.people.map((user_id) => ({ organisation_id, user_id }))
      if (wantsJson(query.format, facts)) {
        const { own, sections: lists, files, binary_files } = exported
        const setup = { organisations: [{ ...own, ...lists }] }
        return { status: 200, body: { data: { setup, files, binary_files } }, shows }
      }
      return {
        status: 200,
        body: new TextEncoder().encode(await setupYaml(exported)),
        headers: {
          'Content-Type': 'application/yaml; charset=utf-8',
          'Content-Disposition': `attachment; filename="${organisation.slug}.yaml"`,
        },
        shows,
      }
    },
  )
