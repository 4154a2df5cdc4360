import { Router, type Request, type Response } from 'express'
import { z } from 'zod'
import { dateIn } from '#domain/time-zone.ts'
import type { Clock } from '#infra/clock.ts'
import type { Log } from '#infra/log.ts'
import { loadAssets } from './assets.ts'
import { framed, signInPage, type Assets } from './frame.ts'
import { pageOf, SignedIn, type Asked, type Page, type Shown } from './page.ts'
import { pages } from './pages.ts'
import { makeReader, Refused, type Read } from './read.ts'
import { empty, link, zone } from './show.ts'
import { readPast, pastIn } from './past.ts'

const headers = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
}

const Session = z.object({ data: z.object({ user: SignedIn.nullable() }) })
const Organisation = z.object({ data: z.object({ id: z.string(), name: z.string() }) })

const ownOrigin = 'http://console'

/** A path of the console alone: whatever else is asked for is its first page. */
const ownPath = (asked: unknown): string => {
  if (typeof asked !== 'string' || !/^\/console(\/[\w/.%-]*)?(\?[\w=&.~%:-]*)?$/.test(asked)) return '/console'
  const path = URL.parse(asked, ownOrigin)?.pathname ?? ''
  return /^\/console(\/|$)/.test(path) && !path.includes('//') ? asked : '/console'
}

const titles: Readonly<Record<number, string>> = {
  400: 'This cannot be shown',
  403: 'This is not for your roles',
  404: 'There is nothing here',
  422: 'This cannot be shown',
  503: 'The service is busy',
}

const refusal = ({ status, message }: Refused): Shown => ({
  title: titles[status] ?? 'Something went wrong',
  main: [empty(message), empty(link('/console', 'Go to your work'))],
})

type Options = {
  /** An address by which this process reaches both APIs. */
  readonly origin: () => string
  /** True where a request bears a session that is in force. */
  readonly isSignedIn: (request: Request) => Promise<boolean>
  readonly clock: Clock
  readonly log: Log
}

/** The pages with which the people of a firm work, below `/console`. */
export const makeConsole = async ({ origin, isSignedIn, clock, log }: Options) => {
  const { router: files, ...assets } = await loadAssets()
  const reader = makeReader(origin)
  const router = Router().use(files)

  router.get('/console/sign_in', ({ query }, response) => {
    const organisation = typeof query['organisation'] === 'string' ? query['organisation'] : ''
    answer(response, 200, signInPage(assets, ownPath(query['opens']), organisation))
  })
  // Nothing is read for whoever is not signed in: it would count as read by this process.
  router.use('/console', async (request, response, next) => {
    if (await isSignedIn(request)) return next()
    const opens = ownPath(request.originalUrl)
    response.redirect(
      303,
      opens === '/console' ? '/console/sign_in' : `/console/sign_in?opens=${encodeURIComponent(opens)}`,
    )
  })
  for (const page of [homePage, ...pages, nowhere])
    router.get(page.address, servePage(page, { assets, readAs: reader.as, clock, log }))
  return { router, close: reader.close }
}

const answer = (response: Response, status: number, html: string): void => {
  response.status(status).set(headers).type('html').send(html)
}

/** Who is signed in, and whose pages are asked for. */
const known = async (read: Read, organisation_id: string | undefined): Promise<Pick<Asked, 'me' | 'organisation'>> => {
  const [{ data: session }, organisation] = await Promise.all([
    read('/admin/v1/session', Session),
    organisation_id === undefined
      ? undefined
      : read(`/admin/v1/organisations/${encodeURIComponent(organisation_id)}`, Organisation).catch((error: unknown) => {
          if (error instanceof Refused && error.status !== 401) return undefined
          throw error
        }),
  ])
  if (!session.user) throw new Refused(401, 'Nobody is signed in.')
  return { me: session.user, organisation: organisation?.data }
}

type Serving = {
  readonly assets: Assets
  readonly readAs: (cookie: string) => Read
  readonly clock: Clock
  readonly log: Log
}

const Id = z.uuid()
/** Of a product, a journey or a rate table. */
const Name = z
  .string()
  .max(100)
  .regex(/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/)

/** Of what follows the log: `deliveries`, `applications (version 4)`, `deliveries Events 3`. */
const ConsumerName = z
  .string()
  .max(300)
  .regex(/^[\w-]+([ .]\(?[\w-]+\)?)*$/)

const schemaOf = (name: string): z.ZodType<string> =>
  name === 'consumer' ? ConsumerName : name.endsWith('id') ? Id : Name

/** The ids and names in an address. Whatever else stands there could lead a reading to another address. */
const idsIn = ({ params }: Request): Readonly<Record<string, string>> | undefined => {
  const ids = Object.entries(params).map(
    ([name, value]) => [name, name === 'consumer' ? String(value) : String(value).toLowerCase()] as const,
  )
  const isUsable = ids.every(([name, id]) => schemaOf(name).safeParse(id).success)
  return isUsable ? Object.fromEntries(ids) : undefined
}

const nothingHere = () => new Refused(404, 'There is nothing at this address. Check that all of it was copied.')

const servePage =
  ({ address, show }: Page, { assets, readAs, clock, log }: Serving) =>
  async (request: Request, response: Response): Promise<void> => {
    response.locals['address'] = address
    const url = new URL(request.originalUrl, ownOrigin)
    const path = idsIn(request)
    const now = readAs(request.get('cookie') ?? '')
    let about: (Pick<Asked, 'me' | 'organisation'> & { readonly url: URL }) | undefined
    try {
      about = { ...(await known(now, path?.['organisation_id'])), url }
      if (!path) throw nothingHere()
      if (path['organisation_id'] !== undefined && !about.organisation)
        throw new Refused(404, 'There is no such organisation, or it is not yours.')
      const past = pastIn(url)
      const read = past ? readPast(now, path['organisation_id'] ?? '', past) : now
      const at = clock.now().toISOString()
      const shown = await show({ ...about, read, now, path, past, at, today: dateIn(zone, at) })
      if ('opens' in shown) return response.redirect(303, shown.opens)
      answer(response, 200, framed(assets, about, shown))
    } catch (error) {
      const refused = asRefused(error, log)
      // It ended while the page was made.
      if (refused.status === 401)
        return response.redirect(303, `/console/sign_in?opens=${encodeURIComponent(ownPath(request.originalUrl))}`)
      answer(
        response,
        refused.status,
        framed(assets, about ?? { me: undefined, organisation: undefined, url }, refusal(refused)),
      )
    }
  }

/** Any other address: what is in it is no id. */
const nowhere: Page = {
  address: '/console/{*rest}',
  show: async () => {
    throw nothingHere()
  },
}

/** The first page: the work of one's own organisation, or the organisations. */
const homePage: Page = {
  address: '/console',
  show: async ({ me }) => ({
    opens: me.organisation_id === null ? '/console/organisations' : pageOf(me.organisation_id, 'work'),
  }),
}

const asRefused = (error: unknown, log: Log): Refused => {
  if (error instanceof Refused) return error
  log.error({ error }, 'a page of the console could not be shown')
  return new Refused(500, 'This page could not be shown. Nothing was changed; tell the operator, with the time.')
}
