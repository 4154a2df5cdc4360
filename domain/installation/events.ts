import { z } from 'zod'
import { event } from '../event.ts'

/** Stream `installation-coverstream`, once: whose log it is. It stands first in the log of a new installation. */
export const installationEvents = {
  InstallationBegun: event({
    installation_id: z.uuid(),
    /** Sealed under the master key of that day: whoever opens it has the keys of the installation. */
    check_value: z.string(),
  }),
}
