import type { Express } from 'express'
import { directoryFold } from '#domain/access/record.ts'
import { operatorKeysFold } from '#domain/operator-keys/record.ts'
import { timerKinds } from '#domain/timer-kinds.ts'
import { signInProvidersFold } from '#domain/sign-in/record.ts'
import { usersFold } from '#domain/users/record.ts'
import { bankCalendarCheck } from '#infra/bank-holidays.ts'
import { makeRecordAccess } from '#infra/access-records/recorder.ts'
import { makeAdmission } from '#infra/http/admission.ts'
import { httpApp } from '#infra/http/http.ts'
import type { Check, Checks } from '#infra/http/health.ts'
import type { Route } from '#infra/http/route.ts'
import { makeSubjectCheck } from '#infra/http/subject.ts'
import { type ApiRole, checkConsumers, checkFolds, checkParts, type Parts, type Role } from '#infra/role-parts.ts'
import { organisationPlanner } from './access/organisation-setup.ts'
import { makeApplicationOwner } from './applications/application-owner.ts'
import { capabilities } from './capabilities.ts'
import type { Half } from './command.ts'
import { makeCommandSide, type CommandSide } from './command-side.ts'
import { runReactions } from './reactions/reaction.ts'
import { runTimers } from './reactions/timers.ts'
import { setupExportRoute } from './setup-file/export-route.ts'
import { setupRoutes } from './setup-file/routes.ts'
import { setupSections } from './setup-sections.ts'

/** Everything that changes something. */
export const commandRoutes = (side: CommandSide): readonly Route[] => [
  ...capabilities.flatMap(({ routes }) => routes?.(side) ?? []),
  ...setupRoutes({
    planOrganisation: organisationPlanner(side),
    organisations: side.directory.organisations,
    sections: setupSections(side),
  }),
  setupExportRoute({ organisations: side.directory.organisations, sections: setupSections(side) }),
]

const admissionOf = (side: CommandSide) => {
  const { config, folds } = side
  return makeAdmission({
    ...side,
    operatorKey: config.OPERATOR_KEY,
    operatorKeyOpens: config.OPERATOR_KEY_OPENS,
    requireCurrent: (organisation_id) => folds.requireCurrent(directoryFold.name, organisation_id),
    requireCurrentKeys: () => folds.requireCurrent(operatorKeysFold.name),
    requireCurrentUsers: (organisation_id) => {
      folds.requireCurrent(usersFold.name, organisation_id)
      folds.requireCurrent(signInProvidersFold.name, organisation_id)
    },
    allowsOwnPages: config.ENVIRONMENT !== 'production',
  })
}

/** A half of the role at work. */
type Started = {
  readonly half: Half
  readonly app?: Express
  readonly checks?: Checks
  readonly finished?: () => Promise<unknown>
}

/** Answers requests. What follows from them is done by whichever process works. */
const startServing = (side: CommandSide) => {
  const { config, log, metrics, clock, pool, traffic, directory, keys, quoteOwner, writer } = side
  const app = httpApp(commandRoutes(side), {
    log,
    metrics,
    admission: admissionOf(side),
    subjectCheck: makeSubjectCheck({
      organisations: directory.organisations,
      keys,
      owners: { application: makeApplicationOwner(writer), quote: quoteOwner },
    }),
    recordAccess: makeRecordAccess(pool),
    clock,
    traffic,
    trustedProxies: config.TRUSTED_PROXIES,
    checkAnswers: false,
    before: capabilities.flatMap(({ ownForms }) => ownForms?.(side) ?? []),
  })
  return { half: 'serve', app } as const
}

/** Work without a request: reactions, timers, and sending messages. */
const startWorking = (side: CommandSide): Started => {
  const { calendar, clock, log } = side
  const { detail } = bankCalendarCheck(calendar, clock)
  if (detail !== undefined) log.warn({ variable: 'BANK_HOLIDAYS_FILE' }, detail)
  const work = capabilities.flatMap((each) => each.work?.(side) ?? [])
  const reactions = runReactions(
    work.flatMap((each) => each.reactions ?? []),
    side,
  )
  const declared = work.flatMap((each) => each.timers ?? [])
  const missing = timerKinds.filter((kind) => !declared.some((timer) => timer.kind === kind))
  if (missing.length > 0) throw new Error(`No timer fires what is due by the kind ${missing.join(', ')}.`)
  const timers = runTimers(declared, side)
  const running = [timers, ...work.flatMap((each) => each.running ?? [])]
  return {
    half: 'work',
    checks: async () => [
      ...(await checkConsumers(side, reactions)),
      ...running.map((each) => each.check()),
      bankCalendarCheck(calendar, clock),
    ],
    finished: () => Promise.all([...reactions, ...running].map(async (each) => each.finished)),
  }
}

/** The halves share nothing but the command side of their process. */
const starts: Readonly<Record<Half, (side: CommandSide) => Started>> = { serve: startServing, work: startWorking }

const roleOf = (side: CommandSide, started: readonly Started[]): Role => {
  const halves = started.map(({ half }) => half)
  for (const half of halves) side.metrics.commandApiHalf.set({ half }, 1)
  const own: Check = { name: 'command-api', ok: true, detail: halves.join(', ') }
  return {
    checks: async () => {
      const ofHalves = started.map(async ({ checks }) => (await checks?.()) ?? [])
      return [own, ...(await Promise.all([checkParts(side, side.pool), checkFolds(side), ...ofHalves])).flat()]
    },
    stop: async () => {
      await Promise.all(started.map(async ({ finished }) => finished?.()))
      await side.integrationLog.stop()
      await Promise.all([side.outside.close(), side.models.close()])
    },
  }
}

/** A process that does these halves of the role. */
export const startHalves = (halves: readonly Half[]) => async (parts: Parts) => {
  const side = await makeCommandSide(parts)
  const started = halves.map((half) => starts[half](side))
  const app = started.find((each) => each.app)?.app
  return { ...roleOf(side, started), ...(app && { app }) }
}

/** The whole role. */
export const startCommandApi = async (parts: Parts): Promise<ApiRole> => {
  const side = await makeCommandSide(parts)
  const serving = startServing(side)
  return { ...roleOf(side, [serving, startWorking(side)]), app: serving.app }
}
