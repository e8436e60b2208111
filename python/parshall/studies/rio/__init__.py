"""The study of RIO routers (Malouch & Liu, INRIA RR-4469, 2002)."""
