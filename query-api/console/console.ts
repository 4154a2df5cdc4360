import { Router, type Request, type Response } from 'express'
import { z } from 'zod'
import type { Log } from '#infra/log.ts'
import { loadAssets } from './assets.ts'
import { framed, signInPage, type Assets } from './frame.ts'
import { pageOf, SignedIn, type Asked, type Page, type Shown } from './page.ts'
import { pages } from './pages.ts'
import { makeReader, Refused, type Read } from './read.ts'
import { empty, link } from './show.ts'
import { readThen, thenIn } from './then.ts'

const headers = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
}

const Session = z.object({ data: z.object({ user: SignedIn.nullable() }) })
const Organisation = z.object({ data: z.object({ id: z.string(), name: z.string() }) })

/** A path of the console alone: whatever else is asked for is its first page. */
const ownPath = (asked: unknown): string =>
  typeof asked === 'string' && /^\/console(\/[\w/-]*)?(\?[\w=&.~%-]*)?$/.test(asked) && !asked.includes('//')
    ? asked
    : '/console'

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
  readonly log: Log
}

/** The pages with which the people of a firm work, below `/console`. */
export const makeConsole = async ({ origin, log }: Options) => {
  const { router: files, ...assets } = await loadAssets()
  const reader = makeReader(origin)
  const router = Router().use(files)

  router.get('/console/sign_in', ({ query }, response) => {
    const organisation = typeof query['organisation'] === 'string' ? query['organisation'] : ''
    answer(response, 200, signInPage(assets, ownPath(query['opens']), organisation))
  })
  router.get('/console', async (request, response) => {
    const { me } = await known(reader.as(request.get('cookie') ?? ''), undefined).catch(() => ({ me: undefined }))
    if (!me) return response.redirect(303, '/console/sign_in')
    response.redirect(303, me.organisation_id === null ? '/console/organisations' : pageOf(me.organisation_id, 'work'))
  })
  for (const page of pages) router.get(page.address, servePage(page, assets, reader.as, log))
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

const servePage =
  ({ address, show }: Page, assets: Assets, readAs: (cookie: string) => Read, log: Log) =>
  async (request: Request, response: Response): Promise<void> => {
    response.locals['address'] = address
    const url = new URL(request.originalUrl, 'http://console')
    const path = Object.fromEntries(Object.entries(request.params).map(([name, value]) => [name, String(value)]))
    const read = readAs(request.get('cookie') ?? '')
    let about: (Pick<Asked, 'me' | 'organisation'> & { readonly url: URL }) | undefined
    try {
      about = { ...(await known(read, path['organisation_id'])), url }
      if (path['organisation_id'] !== undefined && !about.organisation)
        throw new Refused(404, 'There is no such organisation, or it is not yours.')
      const then = thenIn(url)
      const readings = { read: then ? readThen(read, path['organisation_id'] ?? '', then) : read, now: read }
      answer(response, 200, framed(assets, about, await show({ ...about, ...readings, path, then })))
    } catch (error) {
      const refused = asRefused(error, log)
      if (!about || refused.status === 401)
        return response.redirect(303, `/console/sign_in?opens=${encodeURIComponent(ownPath(request.originalUrl))}`)
      answer(response, refused.status, framed(assets, about, refusal(refused)))
    }
  }

const asRefused = (error: unknown, log: Log): Refused => {
  if (error instanceof Refused) return error
  log.error({ error }, 'a page of the console could not be shown')
  return new Refused(500, 'This page could not be shown. Nothing was changed; tell the operator, with the time.')
}
