import { directoryFold } from '#domain/access/record.ts'
import { operatorKeysFold } from '#domain/operator-keys/record.ts'
import { timerKinds } from '#domain/timer-kinds.ts'
import { signInProvidersFold } from '#domain/sign-in/record.ts'
import { usersFold } from '#domain/users/record.ts'
import { bankCalendarCheck } from '#infra/bank-holidays.ts'
import { makeRecordAccess } from '#infra/access-records/recorder.ts'
import { makeAdmission } from '#infra/http/admission.ts'
import { httpApp } from '#infra/http/http.ts'
import type { Route } from '#infra/http/route.ts'
import { makeSubjectCheck } from '#infra/http/subject.ts'
import { type ApiRole, checkConsumers, checkFolds, checkParts, type Parts } from '#infra/role-parts.ts'
import { organisationPlanner } from './access/organisation-setup.ts'
import { makeApplicationOwner } from './applications/application-owner.ts'
import { capabilities } from './capabilities.ts'
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

/** Work without a request: reactions, timers, and sending messages. */
const startWork = (side: CommandSide) => {
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
    checks: async () => [
      ...(await checkConsumers(side, reactions)),
      ...running.map((each) => each.check()),
      bankCalendarCheck(calendar, clock),
    ],
    finished: async () => {
      await Promise.all([...reactions, ...running].map(async (each) => each.finished))
    },
  }
}

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

export const startCommandApi = async (parts: Parts): Promise<ApiRole> => {
  const { config, log, metrics, clock, pool, traffic } = parts
  const side = await makeCommandSide(parts)
  const work = startWork(side)
  const { directory, keys, quoteOwner, writer } = side
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
  return {
    app,
    checks: async () => (await Promise.all([checkParts(parts, pool), checkFolds(parts), work.checks()])).flat(),
    stop: async () => {
      await work.finished()
      await side.integrationLog.stop()
      await Promise.all([side.outside.close(), side.models.close()])
    },
  }
}
