import { openApi, Refused, type Api } from './api.ts'
import { isCheck, withCheck } from './check-stage.ts'
import { button, h } from './elements.ts'
import { endingOf, isEnded } from './endings.ts'
import { firm } from './firm.ts'
import type { Application, Policy, Product, Question, Stage } from './records.ts'
import { show, showWaiting } from './screen.ts'
import { stages as makers, unquotable } from './stages.ts'
import { usualStages } from './usual-stages.ts'
import type { Visit } from './visit.ts'

/** The product on sale, and the arrangement of the questions: `?product=…&journey=…&presentation=…`. */
const asked = new URLSearchParams(location.search)
const product_slug = asked.get('product') ?? firm.product
const journey_slug = asked.get('journey') ?? firm.journey
const presentation_slug = asked.get('presentation')

/** The state with which a visitor who reloads the page goes on. It stays in this tab, and ends with it. */
type Kept = {
  readonly id: string
  readonly share_token: string
  readonly stage: number
  readonly passed?: readonly number[]
  readonly isChanging?: boolean
  readonly quoteId?: string | undefined
  readonly level?: string | undefined
}
const place = `application of ${product_slug} ${journey_slug} ${presentation_slug ?? ''}`

const keep = (kept: Kept): void => sessionStorage.setItem(place, JSON.stringify(kept))
const kept = (): Kept | undefined => {
  const text = sessionStorage.getItem(place)
  return text === null ? undefined : (JSON.parse(text) as Kept) // what we have kept
}

/** One key for each start: a start that is sent again after a lost answer finds the application that it made. */
const start = (api: Api): Promise<Application> =>
  api.send('POST', '/applications', {
    body: {
      product_slug,
      journey_slug,
      presentation_slug,
      idempotency_key: crypto.randomUUID(),
      provenance: {
        page_url: location.href,
        referrer: document.referrer,
        page_title: document.title,
        locale: navigator.language,
        timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      },
    },
  })

const find = (api: Api, { id, share_token }: Pick<Kept, 'id' | 'share_token'>): Promise<Application | undefined> =>
  api.send<Application>('GET', `/applications/${id}`, { shareToken: share_token }).catch((error: unknown) => {
    // Whoever is only to wait does not begin again.
    if (error instanceof Refused && error.code === 'rate_limited') throw error
    return undefined
  })

type Position = {
  readonly application: Application
  readonly shareToken: string
  readonly stage: number
  /** The stages that had nothing to show: they are no steps, and nobody goes back to them. */
  readonly passed: readonly number[]
  /** Somebody changes an answer, and comes again to the check of all answers. */
  readonly isChanging: boolean
  /** The input that is to be changed. */
  readonly opensAt?: string | undefined
  readonly quoteId: string | undefined
  readonly policy: Policy | undefined
  readonly partnerAnswers: Visit['partnerAnswers']
  readonly level: string | undefined
}

const unknown = {
  stage: 0,
  passed: [],
  isChanging: false,
  quoteId: undefined,
  policy: undefined,
  partnerAnswers: undefined,
  level: undefined,
}

const begin = async (api: Api): Promise<Position> => {
  const before = kept()
  const found = before && (await find(api, before))
  if (before && found) {
    const { share_token: shareToken, stage, passed = [], isChanging = false, quoteId, level } = before
    const position = { ...unknown, application: found, shareToken, stage, passed, isChanging, quoteId, level }
    if (found.policy_id === null) return position
    // What was bought is shown again.
    const policy = await api.send<Policy>('GET', `/policies/${found.policy_id}`, { shareToken })
    return { ...position, policy }
  }
  const application = await start(api)
  return { ...unknown, application, shareToken: application.share_token ?? '' }
}

/** An application, and all that its screens are made of. */
type Opened = {
  readonly api: Api
  readonly questions: readonly Question[]
  readonly stages: readonly Stage[]
}

const run = async (): Promise<void> => {
  showWaiting('One moment …')
  const api = await openApi()
  const first = await begin(api)
  // Those that the application started with, should the product have changed since.
  const { questions, product } = await api.send<{ readonly questions: readonly Question[]; readonly product: Product }>(
    'GET',
    `/products/${product_slug}/journeys/${journey_slug}/questions?application_id=${first.application.id}`,
    { shareToken: first.shareToken },
  )
  const stages = withCheck(first.application.presentation?.stages ?? usualStages(product))
  const last = stages.findIndex(({ stage_type }) => stage_type === 'confirmation')
  const isBought = first.policy !== undefined && last >= 0
  await showStage({ api, questions, stages }, isBought ? { ...first, stage: last } : first)
}

const again = (): void => void run().catch(showFailure)

const startAnother = (): void => {
  sessionStorage.removeItem(place)
  again()
}

const ways = { again, startAnother }

const waitingFor: Readonly<Record<string, string>> = {
  quote: 'We work out your price …',
  market_quotes: 'We ask the providers for their prices …',
}

const showStage = async (opened: Opened, position: Position): Promise<void> => {
  const { questions, stages } = opened
  const { application, isChanging } = position
  // Whoever goes back may change what there is to show.
  const passed = position.passed.filter((index) => (isChanging ? index !== position.stage : index < position.stage))
  keepPosition({ ...position, passed })
  const go = (index: number, changed: Partial<Position> = {}) => {
    const next = { ...position, passed, isChanging: false, opensAt: undefined, ...changed, stage: index }
    void showStage(opened, next).catch(showFailure)
  }
  const ending = endingOf(application, questions, ways)
  if (ending) return show(ending)
  const stage = stages[position.stage]
  if (!stage) return show({ title: 'Thank you', body: [h('p', {}, 'There is nothing more to do.')] })
  const make = makers[stage.stage_type]
  if (!make) return show({ title: stage.title, body: [h('p', {}, 'Please call us to go on from here.')] })

  const waiting = waitingFor[stage.stage_type]
  if (waiting !== undefined) showWaiting(waiting)
  const visit = visitAt(opened, position, go)
  const made = await Promise.resolve(make(visit, stage)).catch(async (error: unknown) => {
    const decided = await decidedNow(error, visit)
    return decided ?? unquotable(error, visit)
  })
  if (made && 'status' in made) return go(position.stage, { application: made })
  if (!made) return go(position.stage + 1, { passed: [...passed, position.stage] })
  const before = [...Array(position.stage).keys()].filter((index) => !passed.includes(index))
  const last = isChanging ? stages.findIndex(isCheck) : before.at(-1)
  const canGoBack = position.policy === undefined && made.submit !== undefined
  show({
    ...made,
    ...(made.submit && { submit: { ...made.submit, send: unlessDecided(made.submit.send) } }),
    opensAt: position.opensAt,
    progress: { step: before.length + 1, of: stages.length - passed.length },
    ...(canGoBack && last !== undefined && { back: () => go(last) }),
  })
}

const keepPosition = ({ application, shareToken, stage, passed, isChanging, quoteId, level }: Position): void =>
  keep({ id: application.id, share_token: shareToken, stage, passed, isChanging, quoteId, level })

const visitAt = (
  { api, questions, stages }: Opened,
  position: Position,
  go: (index: number, changed?: Partial<Position>) => void,
): Visit => {
  const indexOf = (key: string) => stages.findIndex((each) => each.key === key)
  const following = position.isChanging ? stages.findIndex(isCheck) : position.stage + 1
  return {
    ...position,
    api,
    questions,
    stages,
    startAnother,
    next: (changed, key) => go(key === undefined ? following : indexOf(key), changed),
    change: (key, name) => go(indexOf(key), { isChanging: stages.some(isCheck), opensAt: name }),
  }
}

/** To ask for a price is also to ask underwriting, which may end the application: it is read again. */
const decidedNow = async (
  error: unknown,
  { api, application, shareToken }: Visit,
): Promise<Application | undefined> => {
  if (!(error instanceof Refused)) return undefined
  const now = await find(api, { id: application.id, share_token: shareToken })
  return now && now.status !== application.status && isEnded(now) ? now : undefined
}

/** An application may be decided, in another tab or by the firm's people, while its visitor is at a screen. */
const unlessDecided =
  (send: (given: FormData) => Promise<void>) =>
  (given: FormData): Promise<void> =>
    send(given).catch((error: unknown) => {
      if (!(error instanceof Refused) || error.code !== 'application_closed') throw error
      again()
    })

const showFailure = (error: unknown): void => {
  const tryAgain = button('Try again', again)
  const kept = h('p', {}, 'Your answers are kept.')
  if (error instanceof Refused && error.code === 'rate_limited')
    return show({ title: 'One moment, please', body: [h('p', {}, error.message), kept, tryAgain] })
  show({ title: 'Something went wrong', body: [kept, tryAgain] })
}

await run().catch(showFailure)
