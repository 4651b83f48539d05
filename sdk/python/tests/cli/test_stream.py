from __future__ import annotations

from support import Server, execution, job, stream
from test_stream import end, event, value

STREAM = "/executor-jobs/xjob_1/stream"
