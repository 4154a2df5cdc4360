import { application } from '#domain/applications/application.ts'
import type { ApplicationId } from '#domain/values.ts'
import { commandHandler, type Context, type Writer } from './handle.ts'
import type { SetUp } from './policies/set-up.ts'
import { setUpName } from './policies/when-quote-bought-set-up-policy.ts'

type Deps = { readonly writer: Writer; readonly setUp: SetUp }

/** Sets up the policy that an application was sold. */
export const makeSetUpSold = ({ writer, setUp }: Deps) => {
  const { load } = commandHandler(writer, application)
  return async (application_id: ApplicationId, policy_id: string, context: Context): Promise<void> => {
    const { sale } = (await load(application_id)) ?? {}
    if (sale?.policy_id === policy_id) await setUp(application_id, sale.quote_id, settingUp(context))
  }
}

/** For a reaction: a policy is set up apart from what it then records there, and once, whoever comes first. */
const settingUp = (context: Context): Context =>
  context.cause ? { ...context, cause: { ...context.cause, reaction: setUpName } } : context
