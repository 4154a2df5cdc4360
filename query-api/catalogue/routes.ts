import { anyText } from '#infra/http/unusable-texts.ts'
import { z } from 'zod'
import { Journey, Presentation, presentationOf, Product, Question } from '#domain/catalogue/record.ts'
import { ApplicationId, Slug, type OrganisationId } from '#domain/values.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { Problem } from '#infra/http/problem.ts'
import { readOrWrite, route, type Caller, type RequestFacts, type Route } from '#infra/http/route.ts'
import { catalogueReader, journeysOf, type ProductRow, type ReleaseView } from './read.ts'

const access = { kind: 'application', scopes: readOrWrite, serverOnly: false } as const
const tag = 'Catalogue'

const ProductPath = z.object({ slug: Slug.describe('The product’s slug.') })
const JourneysPath = z.object({ product_slug: Slug })
const JourneyPath = JourneysPath.extend({ slug: Slug.describe('The journey’s slug.') })

const QuestionsQuery = z.object({
  presentation_slug: anyText(z.string().optional().describe('Omitted or unknown: the default presentation.')),
  application_id: anyText(
    z
      .string()
      .optional()
      .describe('Gives the questions that this application started with. One that is not the caller’s is ignored.'),
  ),
})

const Questions = z.object({
  product: Product,
  journey: Journey,
  questions: z.array(Question).describe('In asked order.'),
  presentation: Presentation.nullable(),
})

const noProduct = () => new Problem('not_found', 'There is no product with this slug. GET /api/v1/products lists them.')
const noJourney = () =>
  new Problem('not_found', 'The product has no journey with this slug. The product’s journeys list those there are.')

type JourneyAddress = z.output<typeof JourneyPath>

const journeyIn = (release: ReleaseView | undefined, slug: string) => {
  const found = release?.journeys.find(({ journey }) => journey.slug === slug)
  return release && found && { release, ...found }
}

type Deps = { readonly db: Database }

export const catalogueRoutes = ({ db }: Deps): Route[] => {
  const read = catalogueReader(db)

  const productAt = async (organisation_id: OrganisationId, slug: string) => {
    const product = await read.product(organisation_id, slug)
    if (!product) throw noProduct()
    return product
  }

  const currentRelease = async (organisation_id: OrganisationId, { release_id }: ProductRow) =>
    release_id === null ? undefined : read.release(organisation_id, release_id)

  /** The journey as an application started with it, if the caller may know of the application and it is on this journey. */
  const journeyOfApplication = async (
    { caller, isProven }: { readonly caller: Caller; readonly isProven: RequestFacts['isProven'] },
    address: JourneyAddress,
    id: string | undefined,
  ) => {
    const application_id = ApplicationId.safeParse(id).data
    if (application_id === undefined) return undefined
    if (caller.kind === 'browser' && !isProven(application_id)) return undefined

    const application = await read.application(caller.organisation_id, application_id)
    if (!application) return undefined
    const started = journeyIn(await read.release(caller.organisation_id, application.release_id), address.slug)
    const isThisJourney =
      started?.release.product.slug === address.product_slug && started.journey.id === application.journey_id
    return isThisJourney ? started : undefined
  }

  return [
    route(
      {
        method: 'get',
        address: '/api/v1/products',
        tag,
        summary: 'List the organisation’s products in name order, in any state',
        access,
        answers: { 200: z.object({ data: z.array(Product) }) },
      },
      async ({ caller }) => ({ status: 200, body: { data: await read.products(caller.organisation_id) } }),
    ),

    route(
      {
        method: 'get',
        address: '/api/v1/products/:slug',
        tag,
        summary: 'Read a product',
        access,
        path: ProductPath,
        example: { path: { slug: 'term-life' } },
        answers: { 200: z.object({ data: Product }) },
      },
      async ({ caller, path }) => {
        const { document } = await productAt(caller.organisation_id, path.slug)
        return { status: 200, body: { data: Product.parse(document) } }
      },
    ),

    route(
      {
        method: 'get',
        address: '/api/v1/products/:product_slug/journeys',
        tag,
        summary: 'List a product’s journeys in dashboard order, in any state',
        access,
        path: JourneysPath,
        example: { path: { product_slug: 'term-life' } },
        answers: { 200: z.object({ data: z.array(Journey) }) },
      },
      async ({ caller: { organisation_id }, path }) => {
        const release = await currentRelease(organisation_id, await productAt(organisation_id, path.product_slug))
        return { status: 200, body: { data: release ? journeysOf(release) : [] } }
      },
    ),

    route(
      {
        method: 'get',
        address: '/api/v1/products/:product_slug/journeys/:slug',
        tag,
        summary: 'Read a journey',
        access,
        path: JourneyPath,
        example: { path: { product_slug: 'term-life', slug: 'standard' } },
        answers: { 200: z.object({ data: Journey }) },
      },
      async ({ caller: { organisation_id }, path }) => {
        const release = await currentRelease(organisation_id, await productAt(organisation_id, path.product_slug))
        const found = journeyIn(release, path.slug)
        if (!found) throw noJourney()
        return { status: 200, body: { data: found.journey } }
      },
    ),

    route(
      {
        method: 'get',
        address: '/api/v1/products/:product_slug/journeys/:slug/questions',
        tag,
        summary: 'Read the questions of a journey and how a presentation arranges them',
        access,
        path: JourneyPath,
        example: { path: { product_slug: 'term-life', slug: 'standard' } },
        query: QuestionsQuery,
        headers: { 'X-Share-Token': 'The key to the application, from a browser application.' },
        answers: { 200: z.object({ data: Questions }) },
      },
      async ({ caller, path, query, isProven }) => {
        const product = await productAt(caller.organisation_id, path.product_slug)
        const found =
          (await journeyOfApplication({ caller, isProven }, path, query.application_id)) ??
          journeyIn(await currentRelease(caller.organisation_id, product), path.slug)
        if (!found) throw noJourney()
        const { release, journey, questions } = found
        return {
          status: 200,
          body: {
            data: {
              product: { ...release.product, lifecycle_state: product.lifecycle_state },
              journey,
              questions,
              presentation: presentationOf(found, query.presentation_slug),
            },
          },
        }
      },
    ),
  ]
}
